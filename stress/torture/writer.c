/* Writers: they free what readers hold, and want the slots back at once. */
#include "stress/torture/actor.h"
#include <haft/table.h>

#define AT_ONCE 24
#define PATIENCE 8 /* times that a writer waits for a slot */
#define NAP_NS 200000
#define EBB_NS 4000000
#define REFUSALS 100 /* after which a table without lives left is believed to have none */

/* --- frees --- */

haft_id victim(struct actor *actor)
{
    struct play *play = actor->play;
    const uint64_t readers = play->run.threads / 2;
    haft_id id = {peek(&play->announced[draw_below(&actor->chance, readers)])};

    if (haft_id_is_nil(id) || one_in(&actor->chance, 4)) {
        id = ledger_pick(any_subject(actor), &actor->chance);
    }
    return id;
}

static bool may_free(struct actor *actor, haft_id id)
{
    return !haft_id_is_nil(id) && place_of(subject_of(actor->play, id), id)->is_kept == 0;
}

/* What a free of an id that was live, or will be soon, may answer. */
static void judge(struct actor *actor, haft_id id, haft_status status)
{
    if (status == HAFT_OK) {
        count(actor, COUNT_FREED, 1);
        remember(actor, id);
    } else if (status == HAFT_STALE || status == HAFT_EXHAUSTED) {
        count(actor, COUNT_LOST_FREE, 1);
    } else if (status != HAFT_RESERVED) {
        broken(actor->play, "id %llx: freeing: %s", (unsigned long long)id.bits,
               haft_status_text(status));
    }
}

/* By the own worker; or through the table, as threads without one do. */
static haft_status free_somehow(struct actor *actor, struct subject *subject, haft_id id)
{
    const bool as_stranger = has_habit(actor->play, COMES) && one_in(&actor->chance, 4);

    return as_stranger ? haft_table_free(subject->table, id)
                       : haft_free(worker_of(actor, subject), id);
}

bool free_one(struct actor *actor, haft_id id, bool inside)
{
    if (!may_free(actor, id)) {
        return false;
    }
    struct subject *subject = subject_of(actor->play, id);

    if (!inside) {
        ledger_intend(subject, id);
    }
    add(&subject->live, UINT64_MAX);
    const haft_status status = free_somehow(actor, subject, id);

    if (status == HAFT_OK) {
        ledger_give(actor->play, subject, id, inside);
        ledger_note_freed(actor->play, subject, id);
    } else {
        add(&subject->live, 1);
    }
    judge(actor, id, status);
    return status == HAFT_OK;
}

/*
 * In a section, where the ledger is exact; or outside, as most programs do.  Ids that repeat must
 * be freed inside; beside recorded destructions the first thread is unknown.
 */
static void free_victim(struct actor *actor)
{
    const struct play *play = actor->play;
    const haft_id id = victim(actor);
    const bool inside =
        has_habit(play, WRAPS) || (!has_habit(play, COMMANDS) && !one_in(&actor->chance, 4));

    if (inside) {
        actor_begin_section(actor);
    }
    actor->debt += free_one(actor, id, inside);
    if (inside) {
        actor_end_section(actor);
    }
}

/* Several with one call; the same id may be among them twice. */
static void free_batch(struct actor *actor)
{
    struct subject *subject = any_subject(actor);
    haft_id ids[AT_ONCE];
    haft_status statuses[AT_ONCE];
    size_t wanted = 0;

    for (int i = 0; i < AT_ONCE; i++) {
        ids[wanted] = i == 0 ? victim(actor) : ledger_pick(subject, &actor->chance);
        wanted += may_free(actor, ids[wanted]);
    }
    actor_begin_section(actor);
    actor->debt += haft_free_many(worker_of(actor, subject), ids, wanted, statuses);
    for (size_t i = 0; i < wanted; i++) {
        if (statuses[i] == HAFT_OK) {
            add(&subject->live, UINT64_MAX);
            ledger_give(actor->play, subject, ids[i], true);
            ledger_note_freed(actor->play, subject, ids[i]);
        }
        judge(actor, ids[i], statuses[i]);
    }
    actor_end_section(actor);
}

/* The flood's slots are handed on and taken back, and not needed for a while: runs are empty. */
static void ebb(struct actor *actor, const struct subject *subject)
{
    struct play *play = actor->play;

    must(&play->run, haft_worker_flush(worker_of(actor, subject)), "flushing");
    if (!play->has_frames) {
        must(&play->run, haft_domain_wait(play->domain), "waiting for a grace period");
    }
    actor_sleep(actor, EBB_NS);
}

/* Half of a table in one go. */
static void flood(struct actor *actor)
{
    struct subject *subject = any_subject(actor);
    const uint64_t first = draw_below(&actor->chance, subject->slots);

    actor_begin_section(actor);
    for (uint64_t i = 0; i < subject->slots / 2; i++) {
        const haft_id id = {peek(&subject->places[(first + i) % subject->slots].board)};

        actor->debt += free_one(actor, id, true);
    }
    actor_end_section(actor);
    count(actor, COUNT_FLOODS, 1);
    if (has_habit(actor->play, TRIMS)) {
        ebb(actor, subject);
    }
}

/* --- insertions --- */

void furnish(struct actor *actor, struct subject *subject, haft_id id, void *object)
{
    struct place *place = ledger_take(actor->play, subject, id);

    if (swap(&place->is_inherited, 0) != 0) {
        poke(&actor->play->took_over[actor->number], 1);
    }
    count(actor, COUNT_REUSED, swap(&place->met, 0));
    object_write(object, id);
    poke(&place->board, id.bits);
    add(&subject->live, 1);
}

static void publish(struct actor *actor, struct subject *subject, haft_id id)
{
    add(&subject->inserted, 1);
    count(actor, COUNT_INSERTED, 1);
    haft_publish(worker_of(actor, subject), id);
}

static void give_up(struct actor *actor, struct subject *subject, haft_id id)
{
    struct place *place = place_of(subject, id);

    count(actor, COUNT_ABORTED, 1);
    poke(&place->board, 0);
    add(&subject->live, UINT64_MAX);
    ledger_give(actor->play, subject, id, true);
    haft_abort(worker_of(actor, subject), id);
}

/* There is no slot at hand: wait in one way or another. */
static haft_status reserve_again(struct actor *actor, struct subject *subject, haft_id *id,
                                 void **object)
{
    const bool may_wait = !actor->play->has_frames && !has_habit(actor->play, PINS);

    count(actor, COUNT_BUSY, 1);
    if (may_wait && one_in(&actor->chance, 2)) {
        return haft_reserve_wait(worker_of(actor, subject), id, object);
    }
    actor_quiescent(actor);
    actor_sleep(actor, NAP_NS);
    return haft_reserve(worker_of(actor, subject), id, object);
}

static haft_status reserve_somehow(struct actor *actor, struct subject *subject, haft_id *id,
                                   void **object)
{
    haft_status status = haft_reserve(worker_of(actor, subject), id, object);

    for (int i = 0; status == HAFT_BUSY && i < PATIENCE && !is_over(actor); i++) {
        status = reserve_again(actor, subject, id, object);
    }
    return status;
}

/* A writer that only replaces freed objects finds room: capacity is a floor. */
static void told_full(struct actor *actor, const struct subject *subject)
{
    const struct play *play = actor->play;

    count(actor, COUNT_FULL, 1);
    actor->refused++;
    if (play->profile->tables == 1 && !has_habit(play, EXHAUSTS) && !has_habit(play, PINS)) {
        broken(play, "full, with at least %llu of %llu slots free", (unsigned long long)actor->debt,
               (unsigned long long)subject->capacity);
    }
}

bool insert_one(struct actor *actor, struct subject *subject)
{
    haft_id id;
    void *object;
    const haft_status status = reserve_somehow(actor, subject, &id, &object);

    if (status == HAFT_FULL || status == HAFT_BUSY) {
        if (status == HAFT_FULL) {
            told_full(actor, subject);
        }
        return false;
    }
    must(&actor->play->run, status, "reserving");
    actor->refused = 0;
    furnish(actor, subject, id, object);
    if (one_in(&actor->chance, 16)) {
        give_up(actor, subject, id);
        return false;
    }
    publish(actor, subject, id);
    return true;
}

static void insert_batch(struct actor *actor)
{
    struct subject *subject = any_subject(actor);
    haft_worker *worker = worker_of(actor, subject);
    const size_t wanted = actor->debt < AT_ONCE ? actor->debt : AT_ONCE;
    haft_id ids[AT_ONCE];
    void *object;
    size_t got = 0;

    while (got < wanted && haft_reserve(worker, &ids[got], &object) == HAFT_OK) {
        furnish(actor, subject, ids[got], object);
        haft_publish(worker, ids[got++]);
    }
    add(&subject->inserted, got);
    count(actor, COUNT_INSERTED, got);
    actor->debt -= got;
    if (got < wanted) {
        count(actor, COUNT_BUSY, 1);
        actor_quiescent(actor);
    }
}

/* --- the life of a writer --- */

/* An id is live again when its slot has had all other generations, and not before. */
static void look_for_repeat(struct actor *actor, const struct subject *subject, uint64_t place)
{
    const haft_id id = actor->ids[place];

    if (!haft_is_live(subject->view, id)) {
        return;
    }
    const uint64_t since = peek(&place_of(subject, id)->lives) - actor->lives[place];

    if (since < haft_field_max(subject->layout.generation_bits)) {
        broken(actor->play, "id %llx lives again after %llu lives of its slot",
               (unsigned long long)id.bits, (unsigned long long)since);
    }
    count(actor, COUNT_REPEATED, 1);
    actor->ids[place] = HAFT_NIL;
}

void try_stale(struct actor *actor)
{
    const uint64_t place = draw_below(&actor->chance, REMEMBERED);
    const haft_id id = actor->ids[place];

    if (haft_id_is_nil(id)) {
        return;
    }
    const struct subject *subject = subject_of(actor->play, id);

    count(actor, COUNT_STALE, 1);
    if (has_habit(actor->play, WRAPS)) {
        look_for_repeat(actor, subject, place);
        return;
    }
    const haft_status status = haft_free(worker_of(actor, subject), id);

    if (haft_is_live(subject->view, id) || haft_resolve(subject->view, id) != NULL ||
        (status != HAFT_STALE && status != HAFT_EXHAUSTED)) {
        broken(actor->play, "id %llx lives again: freeing: %s", (unsigned long long)id.bits,
               haft_status_text(status));
    }
}

static void free_some(struct actor *actor)
{
    if (has_habit(actor->play, BATCHES) && one_in(&actor->chance, 2)) {
        free_batch(actor);
    } else if (has_habit(actor->play, FLOODS) && one_in(&actor->chance, 64)) {
        flood(actor);
    } else {
        free_victim(actor);
    }
}

static void insert_some(struct actor *actor)
{
    if (has_habit(actor->play, BATCHES) && one_in(&actor->chance, 2)) {
        insert_batch(actor);
    } else if (insert_one(actor, any_subject(actor)) && actor->debt != 0) {
        actor->debt--;
    }
}

void writer_step(struct actor *actor)
{
    const bool exhausts = has_habit(actor->play, EXHAUSTS);

    if (actor->debt == 0 || (exhausts && one_in(&actor->chance, 4))) {
        free_some(actor);
    }
    if (actor->debt != 0) {
        insert_some(actor);
    }
    if (one_in(&actor->chance, 4)) {
        try_stale(actor);
    }
    if (one_in(&actor->chance, 4)) {
        actor_quiescent(actor);
    }
    if (exhausts && actor->refused >= REFUSALS) {
        poke(&actor->play->over, 1);
    }
}

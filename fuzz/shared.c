/*
 * The shared table beside the model.  Which slot is next is the table's choice; the model says
 * whether it may be: in no use, past its grace period, under an id never issued before.
 */
#include "fuzz/play.h"
#include <haft/domain.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/urcu-memb.h>

#define OPTIONAL 176 /* operation codes from here on: see take_option() */

/* The last moment whose frees may have been reclaimed by now. */
uint64_t shared_horizon(const struct play *play)
{
    const bool has_workers = play->workers[0] != NULL || play->workers[1] != NULL;

    if (play->closing) {
        return UINT64_MAX;
    }
    switch (play->setup.clock) {
    case HAFT_CLOCK_CALLER:
        return play->in_section ? play->quiet_at : UINT64_MAX;
    case HAFT_CLOCK_WORKERS:
        return has_workers ? play->quiet_at : UINT64_MAX;
    default:
        return play->quiet_at;
    }
}

/*
 * The thread passes quiescent points from here to end_quiet(), if that is what its clock goes by:
 * a call that waits may pass several, and callbacks free between them.
 */
static void begin_quiet(struct play *play)
{
    if (play->setup.clock == HAFT_CLOCK_WORKERS && !play->in_section) {
        play->quiet_at = UINT64_MAX;
    }
}

static void end_quiet(struct play *play)
{
    if (play->setup.clock == HAFT_CLOCK_WORKERS) {
        play->quiet_at = play->model.moment;
    }
}

/* --- workers --- */

static haft_worker **worker_place(struct play *play)
{
    return &play->workers[play->now.x >> 7 & 1];
}

static void open_worker(struct play *play, haft_worker **place)
{
    if (play->workers[0] == NULL && play->workers[1] == NULL) {
        end_quiet(play);
    }
    tell(play, "worker_open");
    must_answer(haft_worker_open(play->table, place), HAFT_OK, "worker_open");
    must_be(haft_worker_table(*place) == play->table, "a worker knows its table");
}

void shared_close_worker(struct play *play, haft_worker **place)
{
    if (*place != NULL && play->depth == 0) {
        tell(play, "worker_close");
        must_answer(haft_worker_close(*place), HAFT_OK, "worker_close");
        *place = NULL;
    }
}

haft_worker *shared_worker(struct play *play)
{
    haft_worker **place = worker_place(play);

    if (play->depth != 0) {
        return play->reclaimer;
    }
    if (*place == NULL) {
        open_worker(play, place);
    }
    return *place;
}

static void step_worker(struct play *play)
{
    haft_worker **place = worker_place(play);

    if (play->depth != 0) {
        return;
    }
    if (*place == NULL) {
        open_worker(play, place);
    } else {
        shared_close_worker(play, place);
    }
}

/* --- the way in --- */

void shared_took(struct play *play, haft_id id)
{
    struct model *model = &play->model;
    const uint64_t index = haft_id_index(model->layout, id);
    const struct slot *slot = &model->slots[index];

    must_be(index >= HAFT_FIRST_INDEX && index < model->limit, "the index is in range");
    if (slot->state == RETIRED) {
        must_be(slot->pins == 0, "a pinned object's slot is not reused");
        must_be(slot->ended <= shared_horizon(play),
                "a slot is reused after its grace period only");
        must_be(slot->given_up || !play->setup.destroys, "on_reclaim comes before reuse");
    } else {
        must_be(slot->state == UNUSED || slot->state == FRESH || slot->state == FREE,
                "the slot is in no use");
    }
    must_be(slot->generation != 0, "an exhausted slot is not reused");
    must_equal(id.bits, model_id(model, index, slot->generation).bits, "the new id");
    model_set(model, index, TAKEN);
    model_issue(model, id);
}

void shared_came_to_life(struct play *play, haft_id id, uint64_t value)
{
    const uint64_t index = haft_id_index(play->model.layout, id);

    model_set(&play->model, index, LIVE);
    play->model.slots[index].value = value;
    play_check_object(play, id, haft_resolve(play->view, id));
}

static void insert(struct play *play)
{
    haft_worker *worker = shared_worker(play);
    const bool waits = play->now.x % 8 == 1 && play->depth == 0 && play->model.pins == 0;
    const uint64_t value = ++play->model.next_value;
    const unsigned budget = play->budget;
    haft_id id = {UINT64_C(0x5a5a)};

    if (worker == NULL) {
        return;
    }
    if (waits) {
        begin_quiet(play);
    }
    void *bytes = malloc(play->setup.object_size + 1); /* callbacks fill objects as well */

    memcpy(bytes, object_bytes(play, value), play->setup.object_size);
    const haft_status said =
        waits ? haft_insert_wait(worker, bytes, &id) : haft_insert(worker, bytes, &id);

    free(bytes);
    if (waits) {
        end_quiet(play);
    }
    tell(play, "insert%s: %s, id %llx", waits ? "_wait" : "", haft_status_name(said),
         (unsigned long long)id.bits);
    if (said == HAFT_OK) {
        shared_took(play, id);
        shared_came_to_life(play, id, value);
    } else {
        must_equal(id.bits, UINT64_C(0x5a5a), "the id of a refused insert");
        if (play->budget == budget) {
            shared_check_refusal(play, said, waits);
        }
    }
}

static void insert_some(struct play *play)
{
    for (unsigned i = 0; i < play->now.y % 16u; i++) {
        insert(play);
    }
}

static void reserve(struct play *play)
{
    haft_worker *worker = shared_worker(play);
    const unsigned budget = play->budget;
    haft_id id = HAFT_NIL;

    if (worker == NULL) {
        return;
    }
    const haft_status said = haft_reserve(worker, &id, NULL);

    tell(play, "reserve: %s, id %llx", haft_status_name(said), (unsigned long long)id.bits);
    if (said == HAFT_OK) {
        shared_took(play, id);
        must_answer(haft_diagnose(play->table, id), HAFT_RESERVED, "diagnose");
    } else if (play->budget == budget) {
        shared_check_refusal(play, said, false);
    }
}

/* --- the way out --- */

void shared_retire(struct play *play, haft_id id, bool given_up)
{
    const uint64_t index = haft_id_index(play->model.layout, id);

    model_end(&play->model, index);
    play->model.slots[index].given_up = given_up;
    model_set(&play->model, index, RETIRED);
    if (given_up && play->model.slots[index].generation == 0) {
        model_set(&play->model, index, WORN);
    }
}

static void settle_reservation(struct play *play, bool publishes)
{
    struct model *model = &play->model;
    const uint64_t index = model_find(model, TAKEN, play->now.y);
    haft_worker *worker = shared_worker(play);

    if (index == 0 || worker == NULL) {
        return;
    }
    const haft_id id = model_id(model, index, model->slots[index].generation);

    tell(play, "%s %llx", publishes ? "publish" : "abort", (unsigned long long)id.bits);
    if (publishes) {
        const uint64_t value = ++model->next_value;
        char *slot = play->view.base + index * play->view.stride;

        memcpy(slot + sizeof(uint64_t), object_bytes(play, value), play->setup.object_size);
        haft_publish(worker, id);
        shared_came_to_life(play, id, value);
    } else {
        haft_abort(worker, id);
        shared_retire(play, id, true);
    }
}

static void publish(struct play *play)
{
    settle_reservation(play, true);
}

static void abort_one(struct play *play)
{
    settle_reservation(play, false);
}

static void free_one(struct play *play)
{
    haft_worker *worker = shared_worker(play);
    const haft_id id = play_id(play);

    if (worker == NULL) {
        return;
    }
    const haft_status said = haft_free(worker, id);

    tell(play, "free %llx: %s", (unsigned long long)id.bits, haft_status_name(said));
    play_must_diagnose(play, id, said, "free");
    if (said == HAFT_OK) {
        shared_retire(play, id, false);
    }
    must_be(haft_resolve(play->view, id) == NULL, "a freed object does not resolve");
}

static void free_some(struct play *play)
{
    for (unsigned i = 0; i < play->now.y % 16u; i++) {
        free_one(play);
        play->now.y = (uint16_t)(play->now.y + 1);
    }
}

/* A table that is cleared or closed: no object lives, and none is made. */
static void all_have_ended(struct play *play, haft_worker *worker)
{
    const struct model *model = &play->model;
    haft_id id;

    must_answer(worker != NULL ? haft_insert(worker, NULL, &id) : HAFT_CLOSED, HAFT_CLOSED,
                "insert into a closed table");
    for (uint64_t i = HAFT_FIRST_INDEX; model->counts[LIVE] != 0 && i < model->limit; i++) {
        if (model->slots[i].state == LIVE) {
            shared_retire(play, model_id(model, i, model->slots[i].generation), false);
        }
    }
}

void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct play *play = arg;
    struct model *model = &play->model;
    const uint64_t index = haft_id_index(model->layout, id);
    struct slot *slot = &model->slots[index];
    haft_worker *outer = play->reclaimer;

    tell(play, "  on_reclaim %llx", (unsigned long long)id.bits);
    must_be(worker != NULL || play->was_local, "on_reclaim has a worker"); /* on_destroy has none */
    if (play->clears) {
        all_have_ended(play, worker);
    }
    must_be(index >= HAFT_FIRST_INDEX && index < model->limit, "the index is in range");
    must_be(slot->state == RETIRED && !slot->given_up,
            "on_reclaim runs once for each freed object");
    must_be(slot->pins == 0, "on_reclaim after the last pin is gone");
    must_be(slot->ended <= shared_horizon(play), "on_reclaim after the grace period");
    must_equal(model_id(model, index, haft_id_generation(model->layout, id)).bits, id.bits,
               "the id in on_reclaim");
    must_equal(model_next(model, haft_id_generation(model->layout, id)), slot->generation,
               "generation in on_reclaim");
    must_be(object_is(play, object, slot->value), "the object is intact in on_reclaim");
    model_set(model, index, ENDING);
    play->reclaimer = play->clears ? NULL : worker;
    play_nested(play);
    play->reclaimer = outer;
    must_be(slot->state == ENDING && object_is(play, object, slot->value),
            "the object is intact until on_reclaim returns");
    model_set(model, index, slot->generation == 0 ? WORN : FREE);
}

/* --- grace periods --- */

static void quiescent(struct play *play)
{
    haft_worker *worker = shared_worker(play);

    if (play->depth != 0) {
        return;
    }
    tell(play, "quiescent");
    begin_quiet(play);
    must_answer(haft_worker_quiescent(worker), play->in_section ? HAFT_IN_SECTION : HAFT_OK,
                "quiescent");
    end_quiet(play);
}

static void flush(struct play *play)
{
    if (play->depth == 0) {
        tell(play, "flush");
        must_answer(haft_worker_flush(shared_worker(play)), HAFT_OK, "flush");
    }
}

static void tick(struct play *play)
{
    const bool is_frame = play->setup.clock == HAFT_CLOCK_FRAME;

    if (play->depth == 0) {
        tell(play, "tick");
        if (is_frame) {
            play->quiet_at = play->model.moment;
        }
        must_answer(haft_domain_tick(play->domain), is_frame ? HAFT_OK : HAFT_WRONG_CLOCK, "tick");
    }
}

static void wait_for_domain(struct play *play)
{
    if (play->depth != 0) {
        return;
    }
    begin_quiet(play);
    const haft_status said = haft_domain_wait(play->domain);

    end_quiet(play);
    tell(play, "domain_wait: %s", haft_status_name(said));
    if (play->in_section) {
        must_answer(said, HAFT_IN_SECTION, "domain_wait");
    } else if (said != HAFT_BUSY || play->setup.clock != HAFT_CLOCK_FRAME) {
        must_answer(said, HAFT_OK, "domain_wait");
    }
}

/* Busy: on_reclaim has freed others, or a tick has to come. */
static void reclaim(struct play *play)
{
    if (play->depth != 0) {
        return;
    }
    begin_quiet(play);
    const haft_status said = haft_table_reclaim(play->table);

    end_quiet(play);
    tell(play, "table_reclaim: %s", haft_status_name(said));
    if (play->in_section) {
        must_answer(said, HAFT_IN_SECTION, "table_reclaim");
    } else if (said != HAFT_BUSY ||
               (play->setup.clock != HAFT_CLOCK_FRAME && play->setup.nested == 0)) {
        must_answer(said, HAFT_OK, "table_reclaim");
    }
}

static void wait_or_reclaim(struct play *play)
{
    (play->now.x & 1 ? reclaim : wait_for_domain)(play);
}

void shared_section(struct play *play)
{
    if (play->depth != 0 || play->setup.clock != HAFT_CLOCK_CALLER) {
        return;
    }
    tell(play, play->in_section ? "section_end" : "section_begin");
    if (play->in_section) {
        haft_section_end(play->domain);
    } else {
        haft_section_begin(play->domain);
        play->quiet_at = play->model.moment;
    }
    play->in_section = !play->in_section;
}

/* A section for one call that wants one, if the clock knows of sections and none is open. */
bool shared_enter(struct play *play)
{
    const bool enters = play->setup.clock == HAFT_CLOCK_CALLER && !play->in_section;

    if (enters) {
        haft_section_begin(play->domain);
    }
    return enters;
}

void shared_leave(struct play *play, bool entered)
{
    if (entered) {
        haft_section_end(play->domain);
    }
}

/* All grace periods pass; then the whole capacity is to be had, with one worker. */
static void fill(struct play *play)
{
    const struct model *model = &play->model;
    haft_worker *worker = shared_worker(play);

    if (play->depth != 0 || play->in_section || play->setup.nested != 0 || play->now.y % 4 != 0) {
        free_one(play);
        return;
    }
    for (unsigned i = 0; i < MOST_WORKERS; i++) {
        if (play->workers[i] != NULL) {
            must_answer(haft_worker_flush(play->workers[i]), HAFT_OK, "flush");
        }
    }
    tick(play);
    wait_for_domain(play);
    tell(play, "fill");
    while (!shared_is_full(model, shared_pinned(model))) {
        haft_id id = HAFT_NIL;

        must_answer(haft_insert(worker, NULL, &id), HAFT_OK, "insert below the capacity");
        shared_took(play, id);
        shared_came_to_life(play, id, 0);
    }
}

/* What only tables with pins have.  False if this table has not. */
static bool take_option(struct play *play)
{
    if (!haft_table_info(play->table).pins) {
        return false;
    }
    (play->now.code % 8 < 6 ? shared_pin : shared_unpin)(play);
    return true;
}

void shared_step(struct play *play)
{
    static void (*const steps[32])(struct play * play) = {
        insert,
        insert,
        insert,
        insert,
        insert_some,
        free_one,
        free_one,
        free_one,
        free_one,
        free_some,
        reserve,
        reserve,
        publish,
        abort_one,
        shared_look,
        shared_look,
        quiescent,
        quiescent,
        flush,
        flush,
        tick,
        tick,
        wait_or_reclaim,
        shared_section,
        step_worker,
        shared_unshare,
        shared_insert_many,
        shared_free_many,
        shared_insert_many,
        shared_scan,
        fill,
        shared_trim,
    };

    if (play->now.code < OPTIONAL || !take_option(play)) {
        steps[play->now.code % 32](play);
    }
    if (play->depth == 0 && play->kind == SHARED) {
        shared_check_stats(play);
    }
}

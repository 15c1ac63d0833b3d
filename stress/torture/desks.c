/* Recorded commands, and the thread that applies them: see desks.h. */
#include "stress/torture/desks.h"
#include "stress/torture/actor.h"

#define NAP_NS 200000

enum desk_state {
    DESK_CLOSED,
    DESK_OPEN,
    DESK_TAKEN,
};

/* --- at a desk --- */

static bool sit_down(struct desk *desk)
{
    int open = DESK_OPEN;

    return atomic_compare_exchange_strong_explicit(&desk->state, &open, DESK_TAKEN,
                                                   memory_order_acquire, memory_order_relaxed);
}

static void create(struct actor *actor, struct desk *desk)
{
    struct subject *subject = &actor->play->subjects[0];
    haft_id id;
    void *object;

    must(&actor->play->run, haft_recorder_create(desk->recorder, &id, &object),
         "recording a creation");
    poke(&place_of(subject, id)->recorded, id.bits);
    furnish(actor, subject, id, object);
    desk->created[desk->creates++] = id;
}

/* Of an object that lives now, or will when the frame is applied. */
static void destroy(struct actor *actor, struct desk *desk)
{
    struct subject *subject = &actor->play->subjects[0];
    const haft_id id = victim(actor);

    if (haft_id_is_nil(id)) {
        return;
    }
    const bool is_recorded = peek(&place_of(subject, id)->recorded) == id.bits;

    if (is_recorded || haft_is_live(subject->view, id)) {
        ledger_intend(subject, id);
        must(&actor->play->run, haft_recorder_destroy(desk->recorder, id),
             "recording a destruction");
        desk->destroyed[desk->destroys++] = id;
    }
}

static void on_call(haft_recorder *recorder, void *payload)
{
    struct play *play = *(struct play **)payload;

    (void)recorder;
    play->calls_made++;
}

void record_step(struct actor *actor)
{
    struct play *play = actor->play;
    struct desk *desk = &play->desks[draw_below(&actor->chance, DESKS)];

    if (!sit_down(desk)) {
        return;
    }
    for (uint64_t i = draw_below(&actor->chance, 8); i != 0; i--) {
        if (desk->creates < desk->room && one_in(&actor->chance, 2)) {
            create(actor, desk);
        } else if (desk->destroys < MOST_DESTROYS) {
            destroy(actor, desk);
        }
    }
    if (one_in(&actor->chance, 4)) {
        must(&play->run, haft_recorder_call(desk->recorder, on_call, &play, sizeof(struct play *)),
             "recording a call");
        desk->calls++;
    }
    atomic_store_explicit(&desk->state, DESK_OPEN, memory_order_release);
}

/* --- the applier --- */

/* A desk that could not be opened stays closed until the next frame. */
static void open_desk(struct actor *actor, uint64_t number)
{
    struct play *play = actor->play;
    struct desk *desk = &play->desks[number];
    const unsigned room = actor->debt < MOST_CREATES ? (unsigned)actor->debt : MOST_CREATES;
    const haft_status status =
        haft_recorder_open(play->commands, number * 7, room, &desk->recorder);

    desk->creates = desk->destroys = desk->calls = 0;
    desk->room = 0;
    if (status == HAFT_BUSY) {
        count(actor, COUNT_BUSY, 1);
        return;
    }
    must(&play->run, status, "opening a recorder");
    desk->room = room;
    actor->debt -= room;
    atomic_store_explicit(&desk->state, DESK_OPEN, memory_order_release);
}

/* False if a thread sits at one of them; those that were free are closed. */
static bool close_desks(struct play *play)
{
    bool are_closed = true;

    for (int i = 0; i < DESKS; i++) {
        int open = DESK_OPEN;

        are_closed &=
            atomic_compare_exchange_strong_explicit(&play->desks[i].state, &open, DESK_CLOSED,
                                                    memory_order_acquire, memory_order_relaxed) ||
            open == DESK_CLOSED;
    }
    return are_closed;
}

/* What the desks recorded; their creations may be found from now on. */
static haft_applied sum_of_desks(struct play *play)
{
    haft_applied sum = {0};

    for (int i = 0; i < DESKS; i++) {
        const struct desk *desk = &play->desks[i];

        sum.created += desk->creates;
        sum.destroyed += desk->destroys; /* in whatever way */
        sum.calls += desk->calls;
        sum.unused += desk->room - desk->creates;
        for (unsigned j = 0; j < desk->creates; j++) {
            poke(&place_of(&play->subjects[0], desk->created[j])->recorded, 0);
        }
    }
    return sum;
}

/* With frames no thread resolves meanwhile. */
static haft_applied apply(struct play *play)
{
    const bool is_between_frames = play->has_frames && !play->options->without_grace;
    haft_applied applied;

    if (is_between_frames) {
        pthread_rwlock_wrlock(&play->frame);
    }
    must(&play->run, haft_commands_apply(play->commands, &applied), "applying commands");
    if (is_between_frames) {
        pthread_rwlock_unlock(&play->frame);
    }
    return applied;
}

/* Each of them is gone, whichever thread was first. */
static void strike_off(struct actor *actor, const struct desk *desk)
{
    struct subject *subject = &actor->play->subjects[0];

    for (unsigned i = 0; i < desk->destroys; i++) {
        const haft_id id = desk->destroyed[i];
        const haft_status status = haft_diagnose(subject->table, id);

        if (status != HAFT_STALE) {
            broken(actor->play, "id %llx: its destruction was applied, and it is %s",
                   (unsigned long long)id.bits, haft_status_text(status));
        }
        ledger_give(actor->play, subject, id, false);
        replace(&place_of(subject, id)->board, id.bits, 0);
        remember(actor, id);
    }
}

static void apply_desks(struct actor *actor)
{
    struct play *play = actor->play;
    struct subject *subject = &play->subjects[0];
    const uint64_t calls_before = play->calls_made;
    const haft_applied wanted = sum_of_desks(play);
    const haft_applied applied = apply(play);

    if (applied.created != wanted.created || applied.calls != wanted.calls ||
        play->calls_made - calls_before != wanted.calls ||
        applied.destroyed + applied.duplicates + applied.stale != wanted.destroyed ||
        applied.refused != 0) {
        broken(play,
               "recorded %llu creations, %llu destructions, %llu calls; applied %llu, "
               "%llu + %llu + %llu, %llu refused, %llu",
               (unsigned long long)wanted.created, (unsigned long long)wanted.destroyed,
               (unsigned long long)wanted.calls, (unsigned long long)applied.created,
               (unsigned long long)applied.destroyed, (unsigned long long)applied.duplicates,
               (unsigned long long)applied.stale, (unsigned long long)applied.refused,
               (unsigned long long)applied.calls);
    }
    add(&subject->inserted, applied.created);
    add(&subject->freed, applied.destroyed);
    count(actor, COUNT_INSERTED, applied.created);
    count(actor, COUNT_FREED, applied.destroyed);
    count(actor, COUNT_OVERTAKEN, applied.stale);
    count(actor, COUNT_APPLIED, 1);
    actor->debt += applied.destroyed + wanted.unused;
    for (int i = 0; i < DESKS; i++) {
        strike_off(actor, &play->desks[i]);
    }
}

bool is_applier(const struct actor *actor)
{
    return has_habit(actor->play, COMMANDS) && actor->number == actor->play->run.threads - 1;
}

void apply_step(struct actor *actor)
{
    if (!close_desks(actor->play)) {
        return;
    }
    apply_desks(actor);
    for (uint64_t i = 0; i < DESKS; i++) {
        open_desk(actor, i);
    }
}

void desks_open(struct actor *actor)
{
    struct play *play = actor->play;

    must(&play->run, haft_commands_open(play->subjects[0].table, NULL, &play->commands),
         "opening a command set");
}

void desks_close(struct actor *actor)
{
    while (!close_desks(actor->play)) {
        actor_sleep(actor, NAP_NS);
    }
    apply_desks(actor);
    haft_commands_close(actor->play->commands);
}

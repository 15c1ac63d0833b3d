/* A thread of a play, in one of its lives; see actor.h. */
#include "stress/torture/actor.h"
#include <sched.h>

static bool is_reader(const struct play *play, unsigned number)
{
    return number < play->run.threads / 2;
}

/* A reader does without where it can; with the workers clock it cannot. */
static bool needs_workers(struct actor *actor)
{
    const struct play *play = actor->play;

    if (!is_reader(play, actor->number) || has_habit(play, SCANS) || has_habit(play, SHARES)) {
        return true;
    }
    if (play->run.clock == HAFT_CLOCK_WORKERS) {
        return !play->options->without_grace; /* broken on purpose: no thread waits for it */
    }
    return one_in(&actor->chance, 2);
}

static void open_workers(struct actor *actor)
{
    struct play *play = actor->play;

    if (!needs_workers(actor)) {
        return;
    }
    for (unsigned i = 0; i < play->profile->tables; i++) {
        haft_table *table = play->subjects[i].table;

        must(&play->run, haft_worker_open(table, &actor->workers[i]), "opening a worker");
    }
}

static void close_workers(struct actor *actor)
{
    for (unsigned i = 0; i < actor->play->profile->tables; i++) {
        if (actor->workers[i] != NULL) {
            must(&actor->play->run, haft_worker_close(actor->workers[i]), "closing a worker");
        }
    }
}

void actor_begin_section(struct actor *actor)
{
    struct play *play = actor->play;

    if (play->has_frames && !play->options->without_grace) {
        pthread_rwlock_rdlock(&play->frame);
    }
    if (!play->has_frames || !play->options->without_grace) {
        haft_section_begin(play->domain);
    }
    actor->section_began = grace_periods(play);
}

void actor_end_section(struct actor *actor)
{
    struct play *play = actor->play;

    if (!play->has_frames || !play->options->without_grace) {
        haft_section_end(play->domain);
    }
    if (play->has_frames && !play->options->without_grace) {
        pthread_rwlock_unlock(&play->frame);
    }
}

void actor_quiescent(struct actor *actor)
{
    struct play *play = actor->play;

    if (actor->workers[0] == NULL || one_in(&actor->chance, 4)) {
        haft_thread_offline(play->domain);
        haft_thread_online(play->domain);
    }
    for (unsigned i = 0; i < play->profile->tables; i++) {
        if (actor->workers[i] != NULL) {
            must(&play->run, haft_worker_quiescent(actor->workers[i]), "a quiescent point");
        }
    }
}

void actor_sleep(struct actor *actor, uint64_t most_ns)
{
    haft_thread_offline(actor->play->domain);
    sleep_ns(draw_below(&actor->chance, most_ns));
    haft_thread_online(actor->play->domain);
}

void actor_look(const struct actor *actor, const struct object *object, haft_id id)
{
    const struct play *play = actor->play;
    const uint64_t ended = grace_periods(play) - actor->section_began;

    if (!object_is(object, id)) {
        broken(play, "id %llx: the object became %llx while it was held",
               (unsigned long long)id.bits, (unsigned long long)object->id);
    }
    if (ended > play->ages_allowed) {
        broken(play, "%llu grace periods ended within one section, %llu may",
               (unsigned long long)ended, (unsigned long long)play->ages_allowed);
    }
}

void actor_look_last(struct actor *actor, const struct object *object, haft_id id)
{
    struct subject *subject = subject_of(actor->play, id);
    uint64_t periods;
    uint64_t frees;

    actor_look(actor, object, id);
    count(actor, COUNT_HELD, 1);
    if (haft_is_live(subject->view, id)) {
        return;
    }
    count(actor, COUNT_OUTLIVED, 1);
    poke(&place_of(subject, id)->met, 1);
    if (!ledger_age(actor->play, subject, id, &periods, &frees)) {
        return; /* the thread that freed it has not noted that yet */
    }
    if (periods > actor->play->ages_allowed) {
        broken(actor->play, "id %llx: held %llu grace periods after it was freed, %llu may end",
               (unsigned long long)id.bits, (unsigned long long)periods,
               (unsigned long long)actor->play->ages_allowed);
    }
    tally_age(&actor->tally, periods, frees);
}

/* All threads pause, and go on, together. */
static void stutter(struct actor *actor)
{
    while (peek(&actor->play->paused) != 0 && !is_over(actor)) {
        actor_sleep(actor, 1000000);
    }
}

/* A step that readers and writers have alike, if it is its turn. */
static bool common_step(struct actor *actor)
{
    const struct play *play = actor->play;

    if (has_habit(play, TRIMS) && one_in(&actor->chance, actor->number == 0 ? 2 : 32)) {
        trim_step(actor);
        return true;
    }
    if (has_habit(play, SHARES) && actor->debt != 0 && is_reader(play, actor->number)) {
        actor->debt -= insert_one(actor, any_subject(actor));
        return true;
    }
    if (is_applier(actor) && one_in(&actor->chance, 8)) {
        apply_step(actor);
        return true;
    }
    if (has_habit(play, COUNTS) && !one_in(&actor->chance, 4)) {
        counts_step(actor);
        return true;
    }
    if (has_habit(play, COMMANDS) && one_in(&actor->chance, 2)) {
        record_step(actor);
        return true;
    }
    return false;
}

static void step(struct actor *actor)
{
    const struct play *play = actor->play;

    stutter(actor);
    if (common_step(actor)) {
        return;
    }
    if (!is_reader(play, actor->number)) {
        writer_step(actor);
    } else if (has_habit(play, PINS) && one_in(&actor->chance, 2)) {
        pin_step(actor);
    } else if (has_habit(play, SCANS) && !one_in(&actor->chance, 4)) {
        scan_step(actor);
    } else {
        reader_step(actor);
    }
}

/* Workers hold nothing yet, and the table's free slots are there for all. */
static void begin_together(struct actor *actor)
{
    struct play *play = actor->play;

    add(&play->begun, 1);
    while (peek(&play->begun) < play->run.threads && !is_over(actor)) {
        sched_yield();
    }
}

void actor_live(struct play *play, unsigned number, uint64_t life, uint64_t steps)
{
    struct actor actor = {.play = play, .number = number, .debt = play->debts[number]};

    actor.chance = chance_of(&play->run, number + MOST_THREADS * (unsigned)(life % (1 << 20)));
    haft_thread_register(play->domain);
    open_workers(&actor);
    if (is_applier(&actor)) {
        desks_open(&actor);
    }
    if (has_habit(play, SHARES)) {
        begin_together(&actor);
    }
    for (uint64_t i = 0; i < steps && !is_over(&actor); i++) {
        step(&actor);
    }
    if (is_applier(&actor)) {
        desks_close(&actor);
    }
    counts_leave(&actor);
    count(&actor, COUNT_LIVES, has_habit(play, COMES));
    play->debts[number] = actor.debt;
    close_workers(&actor);
    haft_thread_unregister(play->domain);
    pthread_mutex_lock(&play->lock);
    tally_add(&play->sum, &actor.tally);
    pthread_mutex_unlock(&play->lock);
}

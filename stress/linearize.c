/*
 * stress/linearize.c - short histories of a tiny table, each checked against one thread's table.
 *
 * Invariant  every history is linearizable: stress/linear/history.h says what the table of one
 *            thread allows.
 * Pressure   a new table of 2 or 3 objects in each round; all threads begin at one barrier, and
 *            insert, free, resolve, ask, pin and unpin ids that any of them has told of, and ids
 *            that will be issued next.  Counts the histories in which operations of two threads on
 *            one slot overlapped, and fails when there were none.
 * Usage      linearize [rounds] [threads, 2 to 4] [seed] [memb|qsbr|ck] [thread|caller|workers]
 *            The seed gives each thread the same operations again, not the same meetings; a
 *            schedule that the explorer's case `linear` prints gives both.
 */
#include "stress/linear/history.h"
#include "stress/support.h"
#include <haft/pin.h>
#include <pthread.h>
#include <stdlib.h>

#define MOST_OF_A_THREAD 7 /* operations in a history */
#define TOLD 8             /* ids that threads tell each other of */

static const haft_layout layout = {3, 5, 0, 0}; /* 4 slots, 31 lives */

/* One thread's part of a history. */
struct part {
    uint32_t count;
    struct linear_operation operations[MOST_OF_A_THREAD];
};

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    uint64_t capacity;
    uint64_t round;
    bool is_over;
    pthread_barrier_t opened; /* the table, for all */
    struct barrier begun;
    pthread_barrier_t ended;
    _Atomic(uint64_t) time; /* what a call reads is above what any return before it has read */
    shared_u64 told[TOLD];
    struct part parts[4];
    uint64_t overlapping; /* histories */
    uint64_t operations;
};

struct actor {
    struct stage *stage;
    struct part *part;
    unsigned number;
    haft_worker *worker;
    haft_id pinned; /* nil: none */
    struct chance chance;
};

static uint64_t now(struct stage *stage)
{
    return atomic_fetch_add_explicit(&stage->time, 1, memory_order_acq_rel);
}

/* The time of a call.  It may take its time to begin: that makes it meet others. */
static uint64_t call_time(struct actor *actor)
{
    const uint64_t called = now(actor->stage);

    if (one_in(&actor->chance, 8)) {
        pause_by_chance(&actor->chance);
    }
    return called;
}

/* One that was told of, or the next life of its slot; any id of the first life at the beginning. */
static haft_id some_id(struct actor *actor)
{
    const uint64_t told = peek(&actor->stage->told[draw_below(&actor->chance, TOLD)]);
    haft_id id = {told};

    if (told == 0) {
        return haft_id_pack(layout, HAFT_FIRST_INDEX + draw_below(&actor->chance, 2), 1, 0);
    }
    if (one_in(&actor->chance, 4)) {
        id = haft_id_pack(layout, haft_id_index(layout, id), haft_id_generation(layout, id) + 1, 0);
    }
    return id;
}

/* --- operations --- */

static void insert(struct actor *actor, struct linear_operation *operation)
{
    const uint64_t place = draw_below(&actor->chance, TOLD);

    operation->note = (actor->stage->round << 8 | actor->number << 4 | actor->part->count) + 1;
    operation->called = call_time(actor);
    operation->status = haft_insert(actor->worker, &operation->note, &operation->id);
    operation->returned = now(actor->stage);
    if (operation->status == HAFT_OK) {
        poke(&actor->stage->told[place], operation->id.bits);
    }
}

static void free_one(struct actor *actor, struct linear_operation *operation)
{
    operation->called = call_time(actor);
    operation->status = haft_free(actor->worker, operation->id);
    operation->returned = now(actor->stage);
}

/* The object's bytes when it was found, or what became of them in the section. */
static uint64_t note_in(struct actor *actor, shared_u64 *object)
{
    const uint64_t note = peek(object);

    if (one_in(&actor->chance, 8)) {
        pause_by_chance(&actor->chance);
    }
    const uint64_t after = peek(object);

    return after != note ? after : note;
}

static void resolve(struct actor *actor, struct linear_operation *operation)
{
    haft_section_begin(actor->stage->domain);
    operation->called = call_time(actor);
    void *object = haft_resolve(actor->stage->view, operation->id);

    operation->returned = now(actor->stage);
    operation->found = object != NULL;
    operation->note = object != NULL ? note_in(actor, object) : 0;
    haft_section_end(actor->stage->domain);
}

static void ask(struct actor *actor, struct linear_operation *operation)
{
    operation->called = call_time(actor);
    operation->found = haft_is_live(actor->stage->view, operation->id);
    operation->returned = now(actor->stage);
}

static void pin(struct actor *actor, struct linear_operation *operation)
{
    haft_section_begin(actor->stage->domain);
    operation->called = call_time(actor);
    void *object = haft_pin(actor->stage->table, operation->id);

    operation->returned = now(actor->stage);
    haft_section_end(actor->stage->domain);
    operation->found = object != NULL;
    if (object != NULL) {
        actor->pinned = operation->id;
        operation->note = note_in(actor, object);
    }
}

static void unpin(struct actor *actor, struct linear_operation *operation)
{
    operation->id = actor->pinned;
    actor->pinned = (haft_id)HAFT_NIL;
    operation->called = call_time(actor);
    operation->status = haft_unpin(actor->stage->table, operation->id);
    operation->returned = now(actor->stage);
}

static void act(struct actor *actor, enum linear_kind kind)
{
    static void (*const acts[])(struct actor * actor, struct linear_operation * operation) = {
        [LINEAR_INSERT] = insert, [LINEAR_FREE] = free_one, [LINEAR_RESOLVE] = resolve,
        [LINEAR_IS_LIVE] = ask,   [LINEAR_PIN] = pin,       [LINEAR_UNPIN] = unpin};
    struct linear_operation *operation = &actor->part->operations[actor->part->count];

    *operation = (struct linear_operation){.kind = kind, .thread = actor->number};
    if (kind != LINEAR_INSERT) {
        operation->id = some_id(actor);
    }
    acts[kind](actor, operation);
    actor->part->count++;
}

/* --- rounds --- */

/* What a thread does next; a thread has one pin at most. */
static enum linear_kind next_kind(struct actor *actor)
{
    static const enum linear_kind kinds[] = {LINEAR_INSERT,  LINEAR_INSERT,  LINEAR_FREE,
                                             LINEAR_FREE,    LINEAR_RESOLVE, LINEAR_RESOLVE,
                                             LINEAR_IS_LIVE, LINEAR_PIN};
    const enum linear_kind kind = kinds[draw_below(&actor->chance, 8)];

    if (kind == LINEAR_PIN && !haft_id_is_nil(actor->pinned)) {
        return LINEAR_UNPIN;
    }
    return kind;
}

static void take_part(struct actor *actor)
{
    struct stage *stage = actor->stage;

    actor->part->count = 0;
    while (actor->part->count + 1 < MOST_OF_A_THREAD) {
        act(actor, next_kind(actor));
        if (one_in(&actor->chance, 4)) {
            haft_worker_quiescent(actor->worker);
        }
    }
    if (!haft_id_is_nil(actor->pinned)) {
        act(actor, LINEAR_UNPIN);
    }
    must(&stage->run, haft_worker_close(actor->worker), "closing a worker");
}

static void open_table(struct stage *stage, struct chance *chance)
{
    stage->capacity = 2 + draw_below(chance, 2);
    const haft_table_options options = {
        .capacity = stage->capacity,
        .object_size = sizeof(uint64_t),
        .layout = layout,
        .pins = true,
    };

    must(&stage->run, haft_table_open(stage->domain, &options, &stage->table), "opening a table");
    stage->view = haft_table_view(stage->table);
    for (int i = 0; i < TOLD; i++) {
        poke(&stage->told[i], 0);
    }
}

static void check(struct stage *stage)
{
    struct linear_history history = {.layout = layout, .capacity = stage->capacity};

    for (unsigned i = 0; i < stage->run.threads; i++) {
        for (uint32_t j = 0; j < stage->parts[i].count; j++) {
            history.operations[history.count++] = stage->parts[i].operations[j];
        }
    }
    stage->operations += history.count;
    stage->overlapping += linear_overlaps(&history) != 0;
    if (!linear_is_linearizable(&history)) {
        linear_print(stderr, &history);
        violation(&stage->run, "round %llu: NOT LINEARIZABLE", (unsigned long long)stage->round);
    }
}

/* Unlike meet(): what one thread has set up, or written down, is there for the others. */
static void wait_for_all(struct stage *stage, pthread_barrier_t *barrier)
{
    haft_thread_offline(stage->domain);
    pthread_barrier_wait(barrier);
    haft_thread_online(stage->domain);
}

static void begin_round(struct stage *stage, uint64_t round, struct chance *chance)
{
    stage->round = round;
    stage->is_over = !run_goes_on(&stage->run, round, stage->overlapping);
    if (!stage->is_over) {
        open_table(stage, chance);
    }
}

static void run_rounds(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct actor actor = {stage,    &stage->parts[number],         number, NULL,
                          HAFT_NIL, chance_of(&stage->run, number)};
    uint64_t begun = 0;

    haft_thread_register(stage->domain);
    for (uint64_t round = 0;; round++) {
        if (number == 0) {
            begin_round(stage, round, &actor.chance);
        }
        wait_for_all(stage, &stage->opened);
        if (stage->is_over) {
            break;
        }
        must(&stage->run, haft_worker_open(stage->table, &actor.worker), "opening a worker");
        meet_offline(stage->domain, &stage->begun, &begun);
        take_part(&actor);
        wait_for_all(stage, &stage->ended);
        if (number == 0) {
            check(stage);
            close_table(&stage->run, stage->table);
        }
    }
    haft_thread_unregister(stage->domain);
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 4000, 3, NULL);
    run_until(&stage.run, 1000);
    if (stage.run.threads > 4) {
        fprintf(stderr, "linearize: at most 4 threads\n");
        return VERDICT_USAGE;
    }
    stage.begun.threads = stage.run.threads;
    pthread_barrier_init(&stage.opened, NULL, stage.run.threads);
    pthread_barrier_init(&stage.ended, NULL, stage.run.threads);
    stage.domain = open_domain(&stage.run);
    run_threads(stage.run.threads, run_rounds, &stage);
    must(&stage.run, haft_domain_close(stage.domain), "closing the domain");
    finish(
        &stage.run, stage.overlapping,
        "%llu histories of %.1f operations, all linearizable; %llu had operations on one slot at "
        "once",
        (unsigned long long)stage.round, (double)stage.operations / (double)stage.round,
        (unsigned long long)stage.overlapping);
}

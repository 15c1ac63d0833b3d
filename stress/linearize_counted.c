/*
 * stress/linearize_counted.c - short histories of a tiny counted table, each checked against one
 * thread's table.
 *
 * Invariant  every history is linearizable: stress/linear/counted.h says what the table of one
 *            thread allows; and when all holds are given back, each object freed is destroyed once.
 * Pressure   a new table of 1 to 4 objects in each round, with copies, on_destroy and min_free or
 *            without; all threads begin at one barrier, and insert, free, take, hold, copy and ask
 *            for ids that any of them has told of, and ids that will be issued next.  Counts the
 *            histories in which operations of two threads on one slot overlapped.
 * Usage      linearize_counted [rounds] [threads, 2 to 4] [seed]
 *            The seed gives each thread the same operations again, not the same meetings.
 */
#include "stress/linear/counted.h"
#include "stress/support.h"
#include <haft/counted.h>
#include <pthread.h>

#define MOST_OF_A_THREAD 7 /* operations in a history */
#define TOLD 8             /* ids that threads tell each other of */

static const haft_layout layout = {3, 5, 0, 0}; /* 4 slots, 31 lives */

/* Of two words: a copy of it could be one half of two. */
struct noted {
    uint64_t note;
    uint64_t inverse;
};

/* One thread's part of a history. */
struct part {
    uint32_t count;
    struct linear_operation operations[MOST_OF_A_THREAD];
};

struct stage {
    struct run run;
    haft_counted *table;
    haft_counted_options options;
    uint64_t round;
    bool crowds; /* the round has insertions and frees alone */
    bool is_over;
    pthread_barrier_t opened; /* the table, for all */
    struct barrier begun;
    pthread_barrier_t ended;
    _Atomic(uint64_t) time; /* what a call reads is above what any return before it has read */
    shared_u64 told[TOLD];
    shared_u64 destroyed;
    struct part parts[4];
    uint64_t overlapping; /* histories */
    uint64_t operations;
};

struct actor {
    struct stage *stage;
    struct part *part;
    unsigned number;
    haft_id held; /* nil: none */
    uint32_t holds;
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
    const haft_id id = {told};

    if (told == 0) {
        return haft_id_pack(layout, HAFT_FIRST_INDEX + draw_below(&actor->chance, 2), 1, 0);
    }
    if (one_in(&actor->chance, 4)) {
        return haft_id_pack(layout, haft_id_index(layout, id), haft_id_generation(layout, id) + 1,
                            0);
    }
    return id;
}

/* The object's note; or what no insertion wrote. */
static uint64_t note_of(const struct noted *noted)
{
    return noted->inverse == ~noted->note ? noted->note : UINT64_MAX;
}

/* --- operations --- */

static void insert(struct actor *actor, struct linear_operation *operation)
{
    const uint64_t place = draw_below(&actor->chance, TOLD);

    operation->note = (actor->stage->round << 8 | actor->number << 4 | actor->part->count) + 1;
    const struct noted noted = {operation->note, ~operation->note};

    operation->called = call_time(actor);
    operation->status = haft_counted_insert(actor->stage->table, &noted, &operation->id);
    operation->returned = now(actor->stage);
    if (operation->status == HAFT_OK) {
        poke(&actor->stage->told[place], operation->id.bits);
    }
}

static void free_one(struct actor *actor, struct linear_operation *operation)
{
    operation->called = call_time(actor);
    operation->status = haft_counted_free(actor->stage->table, operation->id);
    operation->returned = now(actor->stage);
}

static void take(struct actor *actor, struct linear_operation *operation)
{
    struct noted noted;

    operation->called = call_time(actor);
    operation->status = haft_counted_take(actor->stage->table, operation->id, &noted);
    operation->returned = now(actor->stage);
    operation->note = operation->status == HAFT_OK ? note_of(&noted) : 0;
}

static void ask(struct actor *actor, struct linear_operation *operation)
{
    operation->called = call_time(actor);
    operation->found = haft_counted_is_live(actor->stage->table, operation->id);
    operation->returned = now(actor->stage);
}

static void copy(struct actor *actor, struct linear_operation *operation)
{
    struct noted noted;

    operation->called = call_time(actor);
    operation->found = haft_counted_copy(actor->stage->table, operation->id, &noted);
    operation->returned = now(actor->stage);
    operation->note = operation->found ? note_of(&noted) : 0;
}

static void acquire(struct actor *actor, struct linear_operation *operation)
{
    haft_counted *table = actor->stage->table;
    const bool requires = one_in(&actor->chance, 2);

    operation->called = call_time(actor);
    const struct noted *noted = requires ? haft_counted_require(table, operation->id)
                                         : haft_counted_acquire(table, operation->id);

    operation->returned = now(actor->stage);
    operation->found = noted != NULL;
    if (noted != NULL) {
        actor->held = operation->id;
        actor->holds++;
        operation->note = note_of(noted);
    }
}

static void hold_again(struct actor *actor, struct linear_operation *operation)
{
    operation->id = actor->held;
    operation->called = call_time(actor);
    operation->found = haft_counted_again(actor->stage->table, operation->id);
    operation->returned = now(actor->stage);
    actor->holds += operation->found;
}

static void release(struct actor *actor, struct linear_operation *operation)
{
    operation->id = actor->held;
    actor->holds--;
    operation->called = call_time(actor);
    operation->status = haft_counted_release(actor->stage->table, operation->id);
    operation->returned = now(actor->stage);
}

static void act(struct actor *actor, enum linear_kind kind)
{
    static void (*const acts[])(struct actor * actor, struct linear_operation * operation) = {
        [LINEAR_INSERT] = insert,    [LINEAR_FREE] = free_one,  [LINEAR_TAKE] = take,
        [LINEAR_IS_LIVE] = ask,      [LINEAR_COPY] = copy,      [LINEAR_ACQUIRE] = acquire,
        [LINEAR_AGAIN] = hold_again, [LINEAR_RELEASE] = release};
    struct linear_operation *operation = &actor->part->operations[actor->part->count];

    *operation = (struct linear_operation){.kind = kind, .thread = actor->number};
    if (kind != LINEAR_INSERT) {
        operation->id = some_id(actor);
    }
    acts[kind](actor, operation);
    actor->part->count++;
}

/* What a thread does next; it holds one object at most, and releases no hold but its own. */
static enum linear_kind next_kind(struct actor *actor)
{
    static const enum linear_kind kinds[] = {
        LINEAR_INSERT, LINEAR_INSERT,  LINEAR_INSERT, LINEAR_FREE,    LINEAR_FREE,
        LINEAR_TAKE,   LINEAR_IS_LIVE, LINEAR_COPY,   LINEAR_ACQUIRE, LINEAR_ACQUIRE};
    const enum linear_kind kind = kinds[draw_below(&actor->chance, actor->stage->crowds ? 5 : 10)];

    if (kind == LINEAR_COPY && !actor->stage->options.copies) {
        return LINEAR_IS_LIVE;
    }
    if (kind == LINEAR_ACQUIRE && actor->holds != 0) {
        return one_in(&actor->chance, 3) ? LINEAR_AGAIN : LINEAR_RELEASE;
    }
    return kind;
}

static void take_part(struct actor *actor)
{
    actor->part->count = 0;
    actor->holds = 0;
    while (actor->part->count + actor->holds + 2 <= MOST_OF_A_THREAD) {
        act(actor, next_kind(actor));
    }
    while (actor->holds != 0) {
        act(actor, LINEAR_RELEASE);
    }
}

/* --- rounds --- */

static void on_destroy(void *object, haft_id id, void *arg)
{
    struct stage *stage = arg;

    if (note_of(object) == UINT64_MAX) {
        violation(&stage->run, "id %llx is destroyed, and its object is none",
                  (unsigned long long)id.bits);
    }
    add(&stage->destroyed, 1);
}

static void on_bad_access(const haft_bad_access *access, void *arg)
{
    struct stage *stage = arg;

    if (access->status == HAFT_OK) {
        violation(&stage->run, "id %llx is required in vain, and is live",
                  (unsigned long long)access->id.bits);
    }
}

static void open_table(struct stage *stage, struct chance *chance)
{
    const bool rests = one_in(chance, 4);

    stage->options = (haft_counted_options){
        .capacity = 1 + draw_below(chance, rests ? 3 : 4),
        .object_size = sizeof(struct noted),
        .layout = layout,
        .min_free = rests,
        .copies = one_in(chance, 2),
        .on_destroy = one_in(chance, 2) ? on_destroy : NULL,
        .destroy_arg = stage,
        .on_bad_access = on_bad_access,
        .report_arg = stage,
    };
    must(&stage->run, haft_counted_open(&stage->options, &stage->table), "opening a table");
    stage->crowds = one_in(chance, 2);
    poke(&stage->destroyed, 0);
    for (int i = 0; i < TOLD; i++) {
        poke(&stage->told[i], 0);
    }
}

static void check_destroyed(const struct stage *stage, const struct linear_history *history,
                            uint64_t destroyed)
{
    uint64_t freed = 0;

    for (uint32_t i = 0; i < history->count; i++) {
        freed +=
            history->operations[i].kind == LINEAR_FREE && history->operations[i].status == HAFT_OK;
    }
    if (stage->options.on_destroy != NULL && destroyed != freed) {
        linear_print(stderr, history);
        violation(&stage->run, "round %llu: %llu objects freed, %llu destroyed",
                  (unsigned long long)stage->round, (unsigned long long)freed,
                  (unsigned long long)destroyed);
    }
}

static void check(struct stage *stage)
{
    struct linear_history history = {.layout = layout, .capacity = stage->options.capacity};

    for (unsigned i = 0; i < stage->run.threads; i++) {
        for (uint32_t j = 0; j < stage->parts[i].count; j++) {
            history.operations[history.count++] = stage->parts[i].operations[j];
        }
    }
    stage->operations += history.count;
    stage->overlapping += linear_overlaps(&history) != 0;
    if (!linear_is_allowed(&history, linear_counted_allows)) {
        linear_print(stderr, &history);
        violation(&stage->run, "round %llu: NOT LINEARIZABLE", (unsigned long long)stage->round);
    }
    check_destroyed(stage, &history, peek(&stage->destroyed));
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
    struct actor actor = {.stage = stage,
                          .part = &stage->parts[number],
                          .number = number,
                          .chance = chance_of(&stage->run, number)};
    uint64_t begun = 0;

    for (uint64_t round = 0;; round++) {
        if (number == 0) {
            begin_round(stage, round, &actor.chance);
        }
        pthread_barrier_wait(&stage->opened);
        if (stage->is_over) {
            return;
        }
        meet(&stage->begun, &begun);
        take_part(&actor);
        pthread_barrier_wait(&stage->ended);
        if (number == 0) {
            check(stage);
            must(&stage->run, haft_counted_close(stage->table), "closing a table");
        }
    }
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 4000, 3, NULL);
    run_until(&stage.run, 1000);
    if (stage.run.threads > 4) {
        fprintf(stderr, "linearize_counted: at most 4 threads\n");
        return VERDICT_USAGE;
    }
    stage.begun.threads = stage.run.threads;
    pthread_barrier_init(&stage.opened, NULL, stage.run.threads);
    pthread_barrier_init(&stage.ended, NULL, stage.run.threads);
    run_threads(stage.run.threads, run_rounds, &stage);
    finish(
        &stage.run, stage.overlapping,
        "%llu histories of %.1f operations, all linearizable; %llu had operations on one slot at "
        "once",
        (unsigned long long)stage.round, (double)stage.operations / (double)stage.round,
        (unsigned long long)stage.overlapping);
}

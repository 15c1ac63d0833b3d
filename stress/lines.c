/*
 * stress/lines.c - how many cache lines an operation moves between cores, by the number of threads.
 *
 * The threads take turns: each makes one step, then the next one goes on.  So the counts are the
 * same in every run, on any machine, and they are the worst: whatever line threads share has been
 * with another one since a thread's last step.  Each thread has a cache without end that keeps the
 * copies that its accesses brought (MESI): a load moves a line that it has no copy of, and a store
 * or read-modify-write one that another thread has a copy of.  First touches come from memory and
 * do not count.  A slot is a line; plain bytes of objects lie in them and are not seen.
 *
 *   lines [--json] [--batch SLOTS] [THREADS ...]     1 2 4 16 64, at most 64
 *
 * --batch opens a haft_table that has no more to spare than batches of that size ask for; the
 * fewer they are, the fewer threads get on.
 *
 * For each operation: its loads, stores and read-modify-writes, and how many of each move a line.
 * `hottest`: how often, in a step of a thread, the one line moves in order to be written that moves
 * most.  Its moves come one after the other, so they bound what all cores together can do.
 *
 * Invariant  resolve and copy move no line, whatever the number of threads, and store nothing.  A
 *            worker's insert makes a read-modify-write only with each batch, its free one more: it
 *            moves the line of another thread's object, as a pin or a hold of one does.
 *            Acquire and release, insert and free of a counted table move no line where objects are
 *            not shared, unless threads share a shard.
 * White-box: it is told of the operations of lib/base/atomics.h, and knows what a table has to
 * spare for batches of a size (concurrent/table/open.c).
 */
#include "stress/operations.h"
#include "stress/support.h"
#include <haft/counted.h>
#include <haft/domain.h>
#include <haft/pin.h>
#include <haft/table.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 1024  /* of each thread, counted; as many come before */
#define BETWEEN 128 /* steps between two quiescent points, with full batches */
#define SPARE 64    /* free slots of each thread, before */
#define PLACES (UINT32_C(1) << 20)
#define INDEX_BITS 17
#define FULL 128 /* slots in a batch, at most */

static const struct run as_run = {.program = "lines"};

/* --- the caches --- */

struct counts {
    uint64_t calls;
    uint64_t made[OPERATION_KINDS];
    uint64_t moved[OPERATION_KINDS];
};

/* A line: the threads that have a copy, and moves for writing while steps are counted. */
struct place {
    uint64_t line;
    uint64_t copies;
    uint64_t moves;
};

static struct place places[PLACES];
static struct counts *counted; /* by the thread whose turn it is; NULL: nothing is */
static _Thread_local unsigned own;

static struct place *place_of(const void *word)
{
    const uint64_t line = (uint64_t)(uintptr_t)word / CACHE_LINE;
    uint32_t at = (uint32_t)((line * UINT64_C(0x9E3779B97F4A7C15)) >> 44);

    while (places[at].line != 0 && places[at].line != line) {
        at = (at + 1) % PLACES;
    }
    places[at].line = line;
    return &places[at];
}

void operation_made(haft_edge edge, enum operation_kind kind, const void *word)
{
    struct place *place = place_of(word);
    const uint64_t mine = UINT64_C(1) << own;
    const uint64_t others = place->copies & ~mine;
    const bool moves =
        kind == OPERATION_LOAD ? (place->copies & mine) == 0 && others != 0 : others != 0;

    (void)edge;
    if (counted != NULL) {
        counted->made[kind]++;
        counted->moved[kind] += moves;
        place->moves += moves && kind != OPERATION_LOAD;
    }
    place->copies = kind == OPERATION_LOAD ? place->copies | mine : mine;
}

static uint64_t hottest_moves(void)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < PLACES; i++) {
        most = places[i].moves > most ? places[i].moves : most;
    }
    return most;
}

/* --- the plays --- */

#define MOST_ROWS 3

enum promise {
    NONE,
    READS,      /* stores nothing, and moves no line */
    NO_MODIFY,  /* makes no read-modify-write but those that come with a batch */
    ONE_MODIFY, /* one, and those */
    ONE_MOVE,   /* the same, and the one moves the line that another thread wrote */
    NO_MOVE     /* moves no line, up to as many threads as there are shards */
};

struct row {
    const char *name;
    enum promise promise;
};

struct play {
    const char *table;
    void (*step)(struct play *play, uint64_t step);
    struct row rows[MOST_ROWS];
    bool is_counted;
    bool copies; /* a counted table of 8-byte values; else a slot is a line */
    bool pins;

    unsigned threads;
    bool counts;
    struct counts of_row[MOST_ROWS];
    haft_domain *domain;
    haft_table *shared;
    haft_counted *with_counts;
    haft_id ids[MOST_THREADS]; /* the one of each thread */
    sem_t turns[MOST_THREADS];
};

static _Thread_local haft_worker *worker;

struct bytes {
    uint64_t words[7];
};

static void begin_call(struct play *play, int row)
{
    counted = play->counts ? &play->of_row[row] : NULL;
    if (counted != NULL) {
        counted->calls++;
    }
}

static void end_call(void)
{
    counted = NULL;
}

/* The id that the next thread inserted in its last step; it has none after this. */
static haft_id take_of_next(struct play *play)
{
    haft_id *next = &play->ids[(own + 1) % play->threads];
    const haft_id id = *next;

    *next = HAFT_NIL;
    return id;
}

static const struct bytes object;

static haft_id insert_one(struct play *play, int row)
{
    haft_id id;

    begin_call(play, row);
    const haft_status status = play->is_counted
                                   ? haft_counted_insert(play->with_counts, &object, &id)
                                   : haft_insert(worker, &object, &id);
    end_call();
    must(&as_run, status, "inserting");
    return id;
}

static void free_one(struct play *play, int row, haft_id id)
{
    if (haft_id_is_nil(id)) {
        return;
    }
    begin_call(play, row);
    const haft_status status =
        play->is_counted ? haft_counted_free(play->with_counts, id) : haft_free(worker, id);
    end_call();
    must(&as_run, status, "freeing");
}

static void live_own(struct play *play, uint64_t step)
{
    (void)step;
    free_one(play, 1, insert_one(play, 0));
}

static void hand_over(struct play *play, uint64_t step)
{
    (void)step;
    free_one(play, 1, take_of_next(play));
    free_one(play, 1, play->ids[own]); /* of a thread that frees no other's: it is alone */
    play->ids[own] = insert_one(play, 0);
}

/* The object of another thread in each step; each has inserted its own first. */
static haft_id another(struct play *play, uint64_t step)
{
    if (haft_id_is_nil(play->ids[own])) {
        play->ids[own] = insert_one(play, 0);
    }
    return play->ids[(own + step) % play->threads];
}

static void resolve(struct play *play, uint64_t step)
{
    const haft_id id = another(play, step);

    begin_call(play, 0);
    const void *found = haft_resolve(haft_table_view(play->shared), id);
    end_call();
    if (found == NULL && step >= 1) {
        violation(&as_run, "an object is gone");
    }
}

static void copy(struct play *play, uint64_t step)
{
    const haft_id id = another(play, step);
    uint64_t value;

    begin_call(play, 0);
    const bool found = haft_counted_copy(play->with_counts, id, &value);
    end_call();
    if (!found && step >= 1) {
        violation(&as_run, "a value is gone");
    }
}

static void pin_another(struct play *play, uint64_t step)
{
    const haft_id id = another(play, step);

    if (step == 0) { /* not all have inserted yet */
        return;
    }
    begin_call(play, 0);
    const void *found = haft_pin(play->shared, id);
    end_call();
    if (found == NULL) {
        violation(&as_run, "an object is gone");
    }
    begin_call(play, 1);
    const haft_status status = haft_unpin(play->shared, id);
    end_call();
    must(&as_run, status, "unpinning");
}

static void acquire(struct play *play, haft_id id)
{
    begin_call(play, 0);
    const void *found = haft_counted_acquire(play->with_counts, id);
    end_call();
    if (found == NULL) {
        violation(&as_run, "an object is gone");
    }
}

static void release(struct play *play, haft_id id)
{
    begin_call(play, 1);
    const haft_status status = haft_counted_release(play->with_counts, id);
    end_call();
    must(&as_run, status, "releasing");
}

static void hold_own(struct play *play, uint64_t step)
{
    another(play, step);
    acquire(play, play->ids[own]);
    release(play, play->ids[own]);
}

/* Another thread comes between the two. */
static void hold_one(struct play *play, uint64_t step)
{
    another(play, step);
    if (step % 2 == 0) {
        acquire(play, play->ids[0]);
    } else {
        release(play, play->ids[0]);
    }
}

/* --- a play --- */

static unsigned batch = FULL;

static void announce(struct play *play, uint64_t step)
{
    if (play->shared != NULL && (step + 1) % (batch == FULL ? BETWEEN : BETWEEN / 16) == 0) {
        begin_call(play, 2);
        const haft_status status = haft_worker_quiescent(worker);
        end_call();
        must(&as_run, status, "a quiescent point");
    }
}

static void play_steps(struct play *play)
{
    for (uint64_t step = 0; step < 2 * STEPS; step++) {
        sem_wait(&play->turns[own]);
        if (step == STEPS && own == 0) {
            play->counts = true;
        }
        play->step(play, step);
        announce(play, step);
        sem_post(&play->turns[(own + 1) % play->threads]);
    }
}

/* Each thread's own slots: it inserts SPARE objects, and frees them when all threads have. */
static void begin_with_spare(struct play *play)
{
    haft_id ids[SPARE];

    sem_wait(&play->turns[own]);
    if (play->shared != NULL) {
        must(&as_run, haft_worker_open(play->shared, &worker), "opening a worker");
    }
    for (int i = 0; i < SPARE; i++) {
        ids[i] = insert_one(play, 0);
    }
    sem_post(&play->turns[(own + 1) % play->threads]);
    sem_wait(&play->turns[own]);
    for (int i = 0; i < SPARE; i++) {
        free_one(play, 1, ids[i]);
    }
    sem_post(&play->turns[(own + 1) % play->threads]);
}

static void body(unsigned number, void *shared)
{
    struct play *play = shared;

    own = number;
    begin_with_spare(play);
    play_steps(play);
    sem_wait(&play->turns[own]);
    play->counts = false;
    free_one(play, 1, play->ids[own]);
    play->ids[own] = HAFT_NIL;
    if (play->shared != NULL) {
        must(&as_run, haft_worker_close(worker), "closing a worker");
    }
    sem_post(&play->turns[(own + 1) % play->threads]);
}

static void open_play(struct play *play)
{
    const uint64_t slots = (UINT64_C(1) << INDEX_BITS) - HAFT_FIRST_INDEX;
    const haft_table_options options = {
        .capacity = batch == FULL ? 1000000 : slots - 32 * (uint64_t)(batch - 1),
        .object_size = sizeof object - (play->pins ? sizeof(uint64_t) : 0),
        .object_alignment = sizeof(uint64_t),
        .pins = play->pins,
        .layout = batch == FULL ? (haft_layout){0} : HAFT_LAYOUT_OF(INDEX_BITS, 32, 0),
    };
    const haft_counted_options with_counts = {
        .capacity = 1000000,
        .object_size = play->copies ? sizeof(uint64_t) : sizeof object,
        .object_alignment = sizeof(uint64_t),
        .copies = play->copies,
    };

    if (play->is_counted) {
        must(&as_run, haft_counted_open(&with_counts, &play->with_counts), "opening");
    } else {
        must(&as_run, haft_domain_open(NULL, &play->domain), "opening a domain");
        must(&as_run, haft_table_open(play->domain, &options, &play->shared), "opening");
    }
}

static void close_play(struct play *play)
{
    if (play->is_counted) {
        must(&as_run, haft_counted_close(play->with_counts), "closing");
    } else {
        must(&as_run, haft_table_close(play->shared), "closing");
        must(&as_run, haft_domain_close(play->domain), "closing the domain");
    }
}

static void play_with(struct play *play, unsigned threads)
{
    memset(places, 0, sizeof places);
    play->threads = threads;
    for (unsigned i = 0; i < threads; i++) {
        sem_init(&play->turns[i], 0, i == 0);
    }
    open_play(play);
    run_threads(threads, body, play);
    close_play(play);
    for (unsigned i = 0; i < threads; i++) {
        sem_destroy(&play->turns[i]);
    }
}

/* --- what is said --- */

static double each(uint64_t count, uint64_t calls)
{
    return (double)count / (double)calls;
}

static bool as_json;
static unsigned rows_said;

static void say(const struct play *play, int number, double hottest)
{
    const struct counts *row = &play->of_row[number];
    const char *format =
        as_json ? "%s{\"threads\": %u, \"table\": \"%s\", \"operation\": \"%s\", \"loads\": %.4f,"
                  " \"stores\": %.4f, \"modifies\": %.4f, \"moved_by_loads\": %.4f,"
                  " \"moved_by_stores\": %.4f, \"moved_by_modifies\": %.4f, \"hottest\": %.4f}"
                : "%s%7u  %-13s %-13s %8.3f %8.3f %8.3f  %8.3f %8.3f %8.3f  %8.3f";

    printf(
        format,
        rows_said++ == 0 ? ""
        : as_json        ? ",\n"
                         : "\n",
        play->threads, play->table, play->rows[number].name,
        each(row->made[OPERATION_LOAD], row->calls), each(row->made[OPERATION_STORE], row->calls),
        each(row->made[OPERATION_MODIFY], row->calls), each(row->moved[OPERATION_LOAD], row->calls),
        each(row->moved[OPERATION_STORE], row->calls),
        each(row->moved[OPERATION_MODIFY], row->calls), hottest);
}

#define LITTLE 0.04 /* what comes with a batch, for each slot */
#define SHARDS 16   /* of a counted table that is large enough */

static bool is_kept(const struct play *play, enum promise promise, const struct counts *row)
{
    const double modifies = each(row->made[OPERATION_MODIFY], row->calls);
    const uint64_t moved =
        row->moved[OPERATION_LOAD] + row->moved[OPERATION_STORE] + row->moved[OPERATION_MODIFY];

    switch (promise) {
    case READS:
        return row->made[OPERATION_LOAD] != 0 &&
               row->made[OPERATION_STORE] + row->made[OPERATION_MODIFY] + moved == 0;
    case NO_MODIFY:
        return batch < FULL || modifies < LITTLE;
    case ONE_MODIFY:
        return modifies >= 1 && (batch < FULL || modifies < 1 + LITTLE);
    case ONE_MOVE:
        return is_kept(play, ONE_MODIFY, row) &&
               (play->threads == 1 || row->moved[OPERATION_MODIFY] >= row->calls);
    case NO_MOVE:
        return moved == 0 || play->threads > SHARDS;
    default:
        return true;
    }
}

static void say_all(const struct play *play)
{
    const double hottest = each(hottest_moves(), (uint64_t)play->threads * STEPS);

    for (int i = 0; i < MOST_ROWS && play->rows[i].name != NULL; i++) {
        say(play, i, hottest);
        if (!is_kept(play, play->rows[i].promise, &play->of_row[i])) {
            fflush(stdout);
            violation(&as_run, "%s breaks its promise", play->rows[i].name);
        }
    }
}

static const struct play plays[] = {
    {.table = "haft_table", .step = resolve, .rows = {{"resolve", READS}}},
    {.table = "haft_table",
     .step = live_own,
     .rows = {{"insert", NO_MODIFY}, {"free", ONE_MODIFY}, {"quiescent", NONE}}},
    {.table = "haft_table",
     .step = hand_over,
     .rows = {{"insert", NO_MODIFY}, {"free another's", ONE_MOVE}, {"quiescent", NONE}}},
    {.table = "haft_table",
     .pins = true,
     .step = pin_another,
     .rows = {{"pin another's", ONE_MOVE}, {"unpin", ONE_MODIFY}}},
    {.table = "haft_counted",
     .is_counted = true,
     .copies = true,
     .step = copy,
     .rows = {{"copy", READS}}},
    {.table = "haft_counted",
     .is_counted = true,
     .step = hold_own,
     .rows = {{"acquire own", NO_MOVE}, {"release own", NO_MOVE}}},
    {.table = "haft_counted",
     .is_counted = true,
     .step = hold_one,
     .rows = {{"acquire one", ONE_MOVE}, {"release one", ONE_MOVE}}},
    {.table = "haft_counted",
     .is_counted = true,
     .step = live_own,
     .rows = {{"insert", NO_MOVE}, {"free", NO_MOVE}}},
    {.table = "haft_counted",
     .is_counted = true,
     .step = hand_over,
     .rows = {{"insert", NONE}, {"free another's", NONE}}},
};

static void play_all(unsigned threads)
{
    static struct play play; /* large */

    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++) {
        play = plays[i];
        play_with(&play, threads);
        say_all(&play);
    }
}

static unsigned number_of(const char *text, long most)
{
    const long number = text != NULL ? strtol(text, NULL, 10) : 0;

    if (number < 1 || number > most) {
        fprintf(stderr, "Usage: lines [--json] [--batch SLOTS] [THREADS ...]: 1 to %ld\n", most);
        exit(VERDICT_USAGE);
    }
    return (unsigned)number;
}

int main(int argc, char **argv)
{
    static const unsigned usual[] = {1, 2, 4, 16, 64};
    int at = 1;

    as_json = at < argc && strcmp(argv[at], "--json") == 0;
    at += as_json;
    if (at < argc && strcmp(argv[at], "--batch") == 0) {
        batch = number_of(argv[at + 1], FULL);
        at += 2;
    }
    printf(as_json ? "["
                   : "                                          for each call      lines "
                     "that move      hottest\n"
                     "threads  table         operation        loads   stores modifies "
                     "   loads   stores modifies          \n");
    for (size_t i = 0; at == argc && i < sizeof usual / sizeof *usual; i++) {
        play_all(usual[i]);
    }
    for (; at < argc; at++) {
        play_all(number_of(argv[at], MOST_THREADS));
    }
    printf(as_json ? "]\n" : "\n");
    return fflush(stdout) == 0 && ferror(stdout) == 0 ? VERDICT_HELD : VERDICT_NOT_MET;
}

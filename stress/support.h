/*
 * stress/support.h - what the stress programs share: arguments, threads, chance, verdicts.
 *
 * Shared words of the programs themselves are relaxed throughout: they plant races and count
 * them, and must not order what they plant, or ThreadSanitizer would not see the race.
 */
#ifndef HAFT_STRESS_SUPPORT_H
#define HAFT_STRESS_SUPPORT_H

#include <haft/domain.h>
#include <haft/table.h>
#include <stdatomic.h>

/* What a program exits with; 66 is ThreadSanitizer's. */
enum verdict {
    VERDICT_HELD = 0,
    VERDICT_NOT_MET = 1, /* the race was never met: the run proves nothing */
    VERDICT_USAGE = 2,
    VERDICT_VIOLATION = 3,
};

/* A program's arguments. */
struct run {
    const char *program;
    uint64_t rounds; /* at most */
    uint64_t enough; /* meetings after which the run ends; 0: it has all its rounds */
    bool has_rounds; /* its arguments say how many */
    unsigned threads;
    uint64_t seed;
    const char *mode; /* one of the program's, the first by default */
    const char *flavour_name;
    const haft_foreign_clock *foreign_clock;
    const char *clock_name;
    haft_clock clock;
};

#define MOST_THREADS 64

/*
 * From `[rounds] [threads] [seed]` and, anywhere between, memb, qsbr, mb, bp or ck, thread, caller,
 * workers or frame (for programs that tick), and one of `modes` (NULL at its end; or NULL).
 * Without a seed the time gives one.  Prints it.
 */
struct run run_from(int argc, char **argv, uint64_t rounds, unsigned threads,
                    const char *const *modes);
bool run_is(const struct run *run, const char *mode);

/*
 * A run whose arguments do not say how many rounds ends when it has met its race `enough` times;
 * it may take several times the usual rounds for that, and has failed after these.  For long runs
 * the environment's HAFT_LONGER multiplies both.
 */
void run_until(struct run *run, uint64_t enough);

/* Whether there is a round `round`, counted from 0, after `met` meetings. */
static inline bool run_goes_on(const struct run *run, uint64_t round, uint64_t met)
{
    return round < run->rounds && (run->enough == 0 || met < run->enough);
}

/* The last line: "program: <counts>".  Exits with VERDICT_NOT_MET if `met` is 0, or not enough. */
_Noreturn void finish(const struct run *run, uint64_t met, const char *counts, ...)
    __attribute__((format(printf, 3, 4)));

/* An invariant is broken: print it with the seed and end the process at once. */
_Noreturn void violation(const struct run *run, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/* `status` is HAFT_OK, or else the program names the refused call and ends. */
void must(const struct run *run, haft_status status, const char *what);

/* Broken on purpose: a foreign clock, memb but that wait() returns at once. */
const haft_foreign_clock *clock_without_grace(void);

haft_domain *open_domain(const struct run *run);

/* Reserve a slot; while there is none, wait for the clock's driver.  Outside sections. */
haft_id reserve_waiting(const struct run *run, haft_worker *worker, void **object);

/*
 * What a table must still be able to do when nothing is live and all workers are closed: hold its
 * capacity, with every object its own.  Leaves it empty, without open workers.
 */
void check_nothing_lost(const struct run *run, haft_table *table);

/* The library's census, in release builds too, while no thread uses the table. */
void check_census(const struct run *run, const haft_table *table);

/* Takes the census, then closes the table; with its domain too. */
void close_table(const struct run *run, haft_table *table);
void close_with_domain(const struct run *run, haft_table *table);

/* body(number, shared) in `count` threads at once; returns when all have ended. */
void run_threads(unsigned count, void (*body)(unsigned number, void *shared), void *shared);

/* --- chance: one for each thread --- */

struct chance {
    uint64_t state;
};

struct chance chance_of(const struct run *run, unsigned number);

static inline uint64_t draw(struct chance *chance)
{
    uint64_t x = chance->state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    chance->state = x;
    return x * UINT64_C(0x2545F4914F6CDD1D);
}

/* A number below `end`. */
static inline uint64_t draw_below(struct chance *chance, uint64_t end)
{
    return (draw(chance) >> 32) % end;
}

static inline bool one_in(struct chance *chance, uint64_t many)
{
    return draw_below(chance, many) == 0;
}

/* For a moment: spin, give the processor up, or sleep for less than 50 microseconds. */
void pause_by_chance(struct chance *chance);

/* --- shared words, relaxed --- */

typedef _Atomic(uint64_t) shared_u64;

static inline uint64_t peek(shared_u64 *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static inline void poke(shared_u64 *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static inline uint64_t swap(shared_u64 *word, uint64_t value)
{
    return atomic_exchange_explicit(word, value, memory_order_relaxed);
}

static inline uint64_t add(shared_u64 *word, uint64_t value)
{
    return atomic_fetch_add_explicit(word, value, memory_order_relaxed);
}

static inline bool replace(shared_u64 *word, uint64_t expected, uint64_t value)
{
    return atomic_compare_exchange_strong_explicit(word, &expected, value, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/*
 * Wait until all `threads` threads have come as often as this one; `times` counts for the
 * caller.  Orders nothing.  False if a thread has said, before it came, that this is the end: all
 * threads are told the same, if all come to a meeting at which nothing is said in between.
 */
struct barrier {
    shared_u64 arrived;
    uint64_t threads;
};

bool meet(struct barrier *barrier, uint64_t *times);
void say_end(struct barrier *barrier);

/* The same for a thread with read sections of `domain`, outside them: it delays no grace period. */
bool meet_offline(haft_domain *domain, struct barrier *barrier, uint64_t *times);

/* --- threads that only read --- */

/* Register; with the workers clock open a worker too, which is returned (else NULL). */
haft_worker *enter_as_reader(const struct run *run, haft_table *table);
void leave_as_reader(haft_table *table, haft_worker *worker);

/* Where a reader lets go of what it resolved: offline and online, or its worker's quiescent. */
void pass_quiescent_point(haft_table *table, haft_worker *worker, struct chance *chance);

/* --- objects that know whose they are --- */

struct object {
    uint64_t id;
    uint64_t canary;
};

static inline void object_write(struct object *object, haft_id id)
{
    object->id = id.bits;
    object->canary = ~id.bits * UINT64_C(0x9E3779B97F4A7C15);
}

static inline bool object_is(const struct object *object, haft_id id)
{
    return object->id == id.bits && object->canary == ~id.bits * UINT64_C(0x9E3779B97F4A7C15);
}

/* --- objects that readers hold, and writers free: live_on_free, pin, side --- */

#define HELD_SLOTS 256 /* more than a table here has */

/*
 * Half of the threads read, the others free what readers announce, or any object, and insert
 * another for it.  Few slots, so that a freed one is wanted back at once.
 */
struct held {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    unsigned readers;
    uint64_t slots;      /* that are ever used, from index 0 */
    bool is_unannounced; /* broken on purpose: readers that the workers clock does not know of */
    bool keeps_freed;    /* broken on purpose: readers go on with ids of freed objects */
    /* A slot; NULL: reserve_waiting(). */
    haft_id (*reserve)(struct held *held, haft_worker *worker, void **object);
    /* Before the object is published; NULL: nothing. */
    void (*furnish)(struct held *held, haft_id id, struct chance *chance);
    /* Whether it was this call that freed it; NULL: haft_free(). */
    bool (*free)(struct held *held, haft_worker *worker, haft_id id, struct chance *chance);
    void (*read)(struct held *held, unsigned number, haft_worker *worker, haft_id id,
                 struct chance *chance);
    shared_u64 board[HELD_SLOTS];       /* ids by index, for readers to find */
    shared_u64 announced[MOST_THREADS]; /* ids that readers hold */
    shared_u64 writers_left;
    shared_u64 met;
};

/* Opens domain and table, of a capacity that the seed draws, for object_write(). */
void held_open(struct held *held, haft_table_options options);

/* Fills the table, and has all threads play until it has been met often enough. */
void held_play(struct held *held);

/* The object, or value, must be the id's own. */
void held_look(const struct held *held, const struct object *object, haft_id id);

#endif /* HAFT_STRESS_SUPPORT_H */

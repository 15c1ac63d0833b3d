/*
 * stress/combinations/model.h - what the player knows beside the library.
 *
 * A register is a place for an object's id and what became of the object.  Threads at once share
 * registers through atomic words, which order nothing that the library should order: they are
 * relaxed, except where a reservation is handed to another thread (release, acquire), and in tables
 * with pins, where a thread must not miss that another takes the register (seq_cst: a store and a
 * load on each side).
 *
 * Four rules hold whatever the threads do, and every call checks them:
 *   - a slot's ids are issued in rising order of generation, unless ids repeat: a slot that is
 *     handed out twice breaks that;
 *   - an object's bytes stay while a read section or a pin holds them, and as long as it lives;
 *   - on_reclaim comes once for each freed object, not before it was freed, not while it is pinned,
 *     not within itself, not in haft_unpin(), and without a worker exactly while the table closes;
 *   - what waits, or takes something apart, answers HAFT_IN_CALLBACK in a callback, and
 *     HAFT_IN_SECTION in a read section that the clock can tell, or an inner job.
 * Where threads take turns with whole calls, the model also says what each call answers, and the
 * generation of each slot's next id.
 */
#ifndef HAFT_COMBINATIONS_MODEL_H
#define HAFT_COMBINATIONS_MODEL_H

#include "stress/combinations/plan.h"
#include "stress/combinations/shim.h"
#include <stdatomic.h>
#include <stddef.h>

#define MOST_INDICES (1u << 13)
#define MOST_REGISTERS 4096u
#define MOST_HELD 8
#define MOST_JOBS 6
#define MOST_RECORDERS 4
#define MOST_RECORDED 64 /* of each kind, by a recorder */
#define MOST_CROWD 40    /* workers */

enum register_state {
    REGISTER_EMPTY,
    REGISTER_CLAIMED,
    REGISTER_RESERVED,
    REGISTER_LIVE,
    REGISTER_ENDED,
    REGISTER_RECORDED, /* reserved for a command set, which will publish it or give it up */
    REGISTER_DOOMED    /* threads at once: live when a command set that is to end it was applied */
};

struct reg {
    _Atomic(uint64_t) id;
    _Atomic(uint64_t) stamp; /* of the object that the id names */
    _Atomic(uint32_t) state;
    _Atomic(uint32_t) pins;
    _Atomic(uint32_t) intents; /* threads about to pin: the register is not taken */
};

#define CANARY UINT64_C(0x9E3779B97F4A7C15)

/* What an object's first bytes say, and others up to its last repeat; objects of size 0 say
 * nothing. */
struct stamp {
    uint64_t value; /* its register's number, and a count above it */
    uint64_t canary;
};

struct held {
    const struct stamp *object;
    uint64_t value;
    uint32_t words; /* of the object */
};

/* A job that has begun, or a park. */
struct job {
    haft_job_state state;
    bool is_park;
    bool is_lifted; /* a park that a worker has brought online */
    uint32_t level; /* before */
    uint32_t depth;
};

/* A worker that opens where no grace period waits brings its thread online; when the last worker
 * that was opened since is closed, the thread is again as it was. */
struct lift {
    uint32_t number;
    uint32_t workers; /* open, that were opened in it */
    uint32_t jobs;    /* as known_jobs(), when it began */
    bool lasts;
    bool was_parked;
};

#define MOST_IN_COUNTED 16u
#define MOST_COUNTED_HELD 6

/* A place for an object of the counted table: see counted_table.c. */
struct counted_cell {
    _Atomic(uint64_t) id;     /* of the object, or of the last one */
    _Atomic(uint64_t) object; /* its number, and a state; 0: empty */
    _Atomic(uint32_t) holders;
    _Atomic(uint32_t) frees; /* tried */
};

/* An object as a call finds it in a cell. */
struct counted_ref {
    struct counted_cell *cell;
    uint64_t object;
    haft_id id;
    const struct stamp *bytes; /* if it is held */
};

/* A counted table. */
struct counted_table {
    haft_counted *table; /* NULL: none */
    haft_layout layout;
    bool is_closing;
    bool is_closed; /* it has no insertions any more */
    _Atomic(uint64_t) numbers;
    _Atomic(uint64_t) inserts;
    _Atomic(uint64_t) frees; /* that were answered so, and objects taken, or freed by closing */
    _Atomic(uint64_t) ends;  /* objects destroyed or taken */
    _Atomic(uint32_t) busy;  /* slots that may be in use */
    _Atomic(uint32_t) worn;  /* of them */
    struct counted_cell cells[MOST_IN_COUNTED];
};

/* A thread of the system.  Where the plan's threads take turns, all of them are one. */
struct seat {
    bool has_begun; /* before, the table is filled by a thread that is none of the plan's */
    bool is_registered;
    uint32_t depth; /* of its read sections */
    uint32_t level; /* of its jobs; being online without one counts as one; 0: offline, parked */
    uint32_t job_count;
    struct job jobs[MOST_JOBS]; /* in order of their beginning */
    uint32_t workers;           /* that it has open, in both tables */
    struct lift lift;           /* the latest */
    haft_worker *other_worker;  /* its worker in the other table; NULL: none */
    uint32_t other_lift;        /* that it was opened in */
    uint32_t reclaims;          /* on_reclaim it is in */
    bool is_destroying;         /* in on_destroy of the counted table */
    uint32_t counted_ended;     /* slots that its call there gives back before it returns */
    _Atomic(uint32_t) counted_peak;
    uint32_t held_count;
    struct held held[MOST_HELD];
};

/* One of the plan's threads. */
struct thread {
    uint32_t number;
    struct seat *seat;
    haft_worker *worker;
    uint32_t lift;               /* that the worker was opened in; 0: none */
    uint64_t opened_in;          /* the callback, as `callbacks` counts; 0: none */
    uint64_t callbacks;          /* that it was in */
    _Atomic(uint64_t) under_way; /* its call, and 32 bits below the slot; slot 0: none */
    uint32_t counted_count;
    struct counted_ref counted[MOST_COUNTED_HELD];
};

struct recorded {
    struct reg *reg;
    haft_id id;
    bool is_live; /* when the destructions begin */
};

/* A recorder and its commands; for the thread that has taken it. */
struct recording {
    _Atomic(uint32_t) state;
    haft_recorder *recorder;
    uint64_t key;
    uint64_t unused; /* creations that are left */
    uint32_t created_count;
    uint32_t destroyed_count;
    uint32_t calls;
    uint32_t call; /* to be made next */
    struct reg *created[MOST_RECORDED];
    struct recorded destroyed[MOST_RECORDED];
};

/* The table's command set; for the thread that has taken it. */
struct set {
    _Atomic(uint32_t) state; /* whose it is, and whether the thread has taken it; 0: none */
    uint32_t before;         /* what it will be again, for the thread that has taken it */
    haft_commands *commands;
    uint32_t lift; /* that its worker was opened in */
    struct recording recordings[MOST_RECORDERS];
    haft_recorder *last; /* its call comes after all others; NULL: not open yet */
    bool is_last_recorded;
    uint64_t key;                      /* of the recorder whose call came last */
    haft_applied applied;              /* as it should be */
    _Atomic(uint32_t) recorders;       /* open */
    _Atomic(uint32_t) applying;        /* threads in haft_commands_apply() */
    _Atomic(uint32_t) doomed;          /* registers that were */
    _Atomic(uint64_t) destroyed;       /* of them, by haft_commands_apply() */
    _Atomic(uint64_t) freed_otherwise; /* by others meanwhile */
};

/* A side of the table. */
struct side {
    haft_side *opened; /* NULL: none */
    uint32_t value_size;
    uint64_t valued[MOST_INDICES]; /* the id that has a value; in turns */
};

#define MOST_SIDES (1 + MOST_THREADS) /* the plan's, and one of each thread */

#define MOST_IN_OTHER 16u

/* Another table of the domain. */
struct other_table {
    haft_table *table; /* NULL: none */
    haft_view view;
    _Atomic(uint64_t) stamps;
    _Atomic(uint32_t) live;
    _Atomic(uint64_t) frees;
    _Atomic(uint64_t) reclaims;
    _Atomic(uint64_t) ids[MOST_IN_OTHER];
};

struct play {
    const struct plan *plan;
    bool at_once; /* threads run at once, else take turns with whole calls */
    haft_domain *domain;
    haft_table *table;
    struct side sides[MOST_SIDES];
    struct other_table other;
    struct counted_table counted;
    haft_view view;
    haft_layout layout;
    uint32_t register_count;
    _Atomic(uint32_t) ids_repeat; /* or may from now on, in some slot */
    bool has_trimmed;             /* then a slot may skip generations */
    _Atomic(uint64_t) callbacks;  /* calls of on_reclaim */
    _Atomic(uint32_t) exhausted;  /* slots, or about to be: last lives that have ended */
    _Atomic(uint32_t) live;
    _Atomic(uint32_t) reserved;
    _Atomic(uint64_t) frees;
    uint64_t frees_before; /* the table was shared for the last time */
    _Atomic(uint64_t) refused_frees;
    uint64_t refused_before; /* then */
    uint64_t most_used;      /* slots at one time; in turns */
    uint64_t grace_periods;  /* of the domain, when it was asked last */
    _Atomic(uint64_t) reclaims;
    _Atomic(uint64_t) stamps;
    _Atomic(uint64_t) made[CALL_COUNT]; /* calls of the library */
    _Atomic(uint32_t) trimming;         /* calls of haft_trim() under way */
    bool is_ending;                     /* callbacks make no calls any more */
    _Atomic(bool) is_closing;
    bool ends_all;          /* and all its objects end, */
    bool is_cleared;        /* or have ended */
    uint32_t closing_steps; /* of callbacks, since then */
    bool has_guest;         /* one that is about to leave, or leaves at this moment */
    bool is_shared_again;
    uint32_t crowd_count;
    uint32_t crowd_lifts[MOST_CROWD];
    haft_worker *crowd[MOST_CROWD]; /* open workers that no call goes through */
    bool memory_is_refused;         /* by the system and the allocator */
    bool has_forked;                /* it has had a child */
    bool is_child;                  /* or is it */
    _Atomic(uint32_t) reclaim_step; /* the next of the plan's */
    struct set set;
    struct seat seats[MOST_THREADS];
    struct thread threads[MOST_THREADS];
    struct reg registers[MOST_REGISTERS];
    _Atomic(uint64_t) issued[MOST_INDICES];    /* the id issued last */
    _Atomic(uint32_t) owned[MOST_INDICES];     /* live or reserved */
    _Atomic(uint64_t) reclaimed[MOST_INDICES]; /* the id that on_reclaim was given last */
};

extern struct play play;
extern _Thread_local struct thread *current; /* the plan's thread that the calling one plays */

/* A rule is broken: says so and ends the process.  `kind` is the same for the same rule. */
_Noreturn void fail(const char *kind, const char *detail, ...)
    __attribute__((format(printf, 2, 3)));
void require_that(bool holds, const char *kind);

/* That an answer is the one expected, else fail(). */
void expect(haft_status answer, haft_status expected, const char *kind);

/* Objects live or reserved that count for the capacity. */
uint32_t capacity_in_use(void);

/* --- registers --- */

/* The first register from `at` on in that state, or with a pin; NULL if there is none. */
struct reg *find_register(uint32_t at, enum register_state state);
struct reg *find_pinned(uint32_t at);

/* One for a new object, or a reserved one, for the caller alone; and back, if no object came. */
struct reg *claim_register(uint32_t at);
struct reg *claim_reserved(uint32_t at);
void unclaim_register(struct reg *reg);
uint32_t register_number(const struct reg *reg);

/* The object's bytes say that it is the register's newest. */
void model_stamp(struct reg *reg, void *object);

/* Of an object that is all zeros. */
void stamp_zeros(struct reg *reg, haft_id id);

/* An id was issued into the claimed register, as reserved, live or recorded (which does not count
 * it as reserved: the set's reservations are counted when they are made). */
void model_issued(struct reg *reg, haft_id id, enum register_state state);
void model_published(struct reg *reg);

/* The life of what the register named has ended, by a free that was told so or by haft_abort(). */
void model_freed(struct reg *reg, haft_id id);

/* All objects that live end at once. */
void model_cleared(void);
void model_aborted(struct reg *reg);

/* Notes the most slots that were in use at one time. */
void model_most_used(void);

/* That number of frees was refused. */
void model_refused(uint64_t frees);

/* A reservation that no register knows was given up. */
void model_given_up(haft_id id);

/* A command set is applied: the register's object is to be ended, by it or another thread. */
bool model_doom(struct reg *reg, haft_id id);

/* And was, or was not.  All threads stand still. */
void model_end_doomed(struct reg *reg, bool is_live);

/* on_reclaim was given an id; it writes to the object, which no reader has any more. */
void model_reclaimed(haft_id id, struct stamp *object);

bool is_last_life(haft_id id);

/* Whether the id, of a register whose object has ended, may be that of another object by now: in
 * turns only if it is. */
bool may_live_again(haft_id id);

/* Whether a table whose slots are exhausted may say that it is full, with that many in use. */
bool may_be_full(uint32_t used);

/* The least generation of the slot's next life: 0, it has none. */
uint64_t next_generation(uint32_t index);
haft_id id_in(const struct reg *reg);

/* --- what a thread holds --- */

void hold(struct thread *thread, const struct stamp *object); /* unless it has no bytes */
void hold_value(struct thread *thread, const struct stamp *value);
void check_held(const struct seat *seat);
void release_held(struct seat *seat); /* after a last look */

/* What the value of an id says. */
void value_stamp(struct stamp *value, haft_id id);
bool is_value_stamp(const struct stamp *value, haft_id id);

/* Whether the stamp is one of this play's, of that register. */
bool is_stamp_of(const struct stamp *stamp, const struct reg *reg);

static inline uint64_t word_in(const _Atomic(uint64_t) *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static inline uint32_t count_in(const _Atomic(uint32_t) *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static inline void count(_Atomic(uint32_t) *word, int by)
{
    atomic_fetch_add_explicit(word, (uint32_t)by, memory_order_relaxed);
}

#endif /* HAFT_COMBINATIONS_MODEL_H */

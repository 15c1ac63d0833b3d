/*
 * concurrent/table/table.h - the shared table and its workers, as the files of concurrent/ see
 * them.
 *
 * Where a slot is when it is not live, reserved or fresh: in the filling or open batch of one
 * worker (private), in some worker's ring, or in the depot (anyone may take it).  What may be
 * private at most is reserved from a budget when a worker opens, so that the table holds its
 * capacity whatever the workers hold back.
 *
 * Edges in this file.
 *   COUNT    a counter that one worker writes and any thread may read
 *   TALLY    tally (release) -> taken_slots (acquire)   frees before insertions into their slots
 *   PUBLISH  haft_publish (release) -> worker_claim (acquire)   object before word: who frees an
 *            object has its last word on it
 *   CLAIM    one winner per id: the atomicity of the compare-and-swap in worker_claim
 *   OWN      only this worker writes the word
 *   RETRY    a first look; the compare-and-swap decides
 */
#ifndef HAFT_CONCURRENT_TABLE_H
#define HAFT_CONCURRENT_TABLE_H

#include "concurrent/batches/depot.h"
#include "concurrent/batches/ring.h"
#include "concurrent/clock/domain.h"
#include "lib/slots/slots.h"
#include <haft/local.h>
#include <haft/table.h>
#include <haft/view.h>

/* Counted by each worker for itself; sums of differences are the table's statistics. */
struct counters {
    atomic_u64 reserved;
    atomic_u64 published;
    atomic_u64 inserted; /* in one go: neither of the two above */
    atomic_u64 aborted;
    atomic_u64 freed;
    atomic_u64 reclaimed; /* freed or aborted, and taken back */
    atomic_u64 exhausted;
    atomic_u64 worn;     /* the same in the restore range */
    atomic_u64 recycled; /* exhausted slots that were taken back into use */
    atomic_u64 renewed;  /* the same in the restore range */
    atomic_u64 unveiled; /* slots of the restore range that were used for the first time */
    atomic_u64 moved;    /* batches to the depot, or from elsewhere than the worker's own ring */
    atomic_u64 refused;  /* frees of ids that were not live */
    atomic_u64 stale;    /* counted resolves of ids that were not live */
};

/* A ticket this worker took, and what it had retired until then. */
struct closing {
    uint64_t ticket;
    uint64_t retired;
};

#define CLOSINGS 128 /* remembered: more of them wait for a grace period only within one job */

/* What a worker has retired and the clock has not done: oldest closing first. */
struct backlog {
    uint64_t first;   /* closings ever done or forgotten */
    uint64_t next;    /* closings ever */
    uint64_t retired; /* slots ever retired */
    uint64_t done;    /* of them, done as far as known */
    struct closing closings[CLOSINGS];
};

/*
 * COMMON: shared by the threads that have none (common.c); never closed, never taken over.
 * LOST: its thread is not in this process (fork.c); the same.
 */
enum worker_state { WORKER_OPEN, WORKER_CLOSED, WORKER_COMMON, WORKER_LOST };

struct haft_worker {
    haft_table *table;
    struct member *member;               /* what the domain's clock knows its thread by */
    uint64_t owner;                      /* thread_number() of its thread; 0: nobody's so far */
    struct batch *filling;               /* slots to reserve */
    struct batch *open;                  /* slots retired since the last closing */
    struct batch *spares[SPARE_BATCHES]; /* empty descriptors at hand */
    uint32_t spare_count;
    uint32_t share;        /* slots in a batch: it may hold back 2 * (share - 1) */
    uint32_t look_at;      /* slots in the open batch from which on a free looks further */
    bool reclaiming;       /* inside on_reclaim */
    bool is_implicit;      /* closed with its thread, or with the table: see implicit.c */
    atomic_u64 user;       /* debug builds: the thread that is inside a call with it; 0: none */
    uint64_t hunger;       /* the table's, when last answered */
    uint64_t retired_seen; /* slots ever retired, at the last quiescent point */
    struct counters counters;
    struct backlog backlog;

    _Alignas(CACHE_LINE) struct ring waiting; /* closed batches, with their tickets */
    _Alignas(CACHE_LINE) struct ring ready;   /* batches without: to be reused at once */
    _Alignas(CACHE_LINE) atomic_u64 extent;   /* fresh slots at hand: see fresh.c */
    atomic_u64 state;
    struct haft_worker *next; /* in the roster; constant */
    struct segment segment;
};

/* What a table that was a local one has not used yet: see share.c. */
struct legacy {
    haft_local *local; /* the local table's options; NULL: it was none */
    atomic_u64 listed; /* the first of its free slots, or MARK_END */
};

/* Runs whose memory was given back, to be drawn as fresh slots again: see given.c. */
struct given {
    atomic_u64 head;  /* tagged number of the first one */
    atomic_u64 slots; /* in all of them */
};

struct haft_table {
    struct slots slots;
    haft_domain *domain;
    struct pool pool;
    uint32_t batch_max;    /* slots in a full batch */
    uint32_t extent_slots; /* fresh slots that a worker draws at once */
    haft_reclaim *on_reclaim;
    void *reclaim_arg;
    bool is_exact;        /* live and reserved objects are counted in `taken` */
    bool is_quick;        /* haft_insert may do without worker_reserve */
    bool is_closing;      /* what was freed is taken back for the last time */
    bool inspects;        /* each slot that is taken back is looked at */
    uint64_t restore_end; /* slots below are for haft_restore(); else HAFT_FIRST_INDEX */
    uint64_t capacity;
    uint64_t budget_size;
    char *name;

    _Alignas(CACHE_LINE) atomic_u64 fresh;  /* slots below are used, or in a worker's extent */
    _Alignas(CACHE_LINE) atomic_u64 hunger; /* times that somebody found no slot */
    atomic_u64 restored;                    /* slots of the restore range, live or retired */
    atomic_u64 budget;                      /* slots that workers may still hold back */
    atomic_u64 roster;                      /* address of the worker added last */
    _Alignas(CACHE_LINE) atomic_u64 taken;  /* of a table that is_exact: objects live or reserved */
    struct depot depot;
    struct legacy legacy;
    struct given given;
    pthread_mutex_t trim_lock; /* of who takes slots out of all batches */
    pthread_mutex_t common_lock;
    haft_worker *common; /* under the lock; NULL: not needed so far */
    uint64_t unpinned;   /* under the lock: the first slot to be taken back (pin.c), or MARK_END */

    uint64_t number;           /* no other table ever has it */
    bool has_implicit;         /* in the list of tables with implicit workers: see implicit.c */
    haft_table *next_implicit; /* in that list */
    haft_table *next_open;     /* in the list of all: see registry.h */
    haft_table **open_link;    /* what points here in it */
};

/* The workers ever open at one time, newest first: for (w = first_worker(t); w; w = w->next). */
haft_worker *first_worker(const haft_table *table);

/* Add to a counter that only this thread writes. */
static inline void count_up(atomic_u64 *counter, uint64_t by)
{
    store_relaxed(COUNT, counter, load_relaxed(COUNT, counter) + by);
}

/* The same for what a worker begins: who sees it counted sees all frees counted that led to it. */
static inline void tally(atomic_u64 *counter, uint64_t by)
{
    store_release(TALLY, counter, load_relaxed(COUNT, counter) + by);
}

/* table.c */

/* A table of that name, with nothing in it; NULL: no memory.  table_free() ends it. */
haft_table *table_new(const char *name);
void table_free(haft_table *table);

/*
 * All that a table has beside its slots, when these and its capacity are set.  HAFT_OK or
 * HAFT_NO_MEMORY.  table_stop() undoes it.
 */
haft_status table_start(haft_table *table, haft_domain *domain);
void table_stop(haft_table *table);

/* HAFT_OK, or why it cannot be closed now.  With pins left, all that was freed is taken back. */
haft_status table_check_closing(haft_table *table);

/* Wait for a grace period; on_reclaim for what was freed and not taken back. */
void table_reclaim_rest(haft_table *table);

/* worker.c: a new worker, open, or NULL. */
haft_worker *worker_new(haft_table *table);

/* Its share is `share` from now on. */
void worker_set_share(haft_worker *worker, uint32_t share);

/* The same for a while, with a share of one slot; the calling thread is not online by it. */
haft_worker *worker_hire(haft_table *table);
void worker_dismiss(haft_worker *worker);

/* share.c: what was a local table's */

/* Up to `most` of its free slots, the next one last: how many. */
uint64_t worker_take_listed(haft_worker *worker, uint64_t most, uint32_t *indices);

/* given.c: runs whose memory was given back */

/* A list of runs, from `first` through their links to `last`; their slots, `slots` of them. */
struct run_list {
    uint64_t first;
    uint64_t last;
    uint64_t slots;
};

/* They are there to be drawn. */
void table_give_runs(haft_table *table, struct run_list runs);

/* One of them, its words ready: how many slots, from `*first` on; 0 if there is none. */
uint64_t table_take_run(haft_table *table, uint64_t *first);

/* Fresh slots that had been given back: their words say where their next lives begin. */
void table_apply_floor(const haft_table *table, uint64_t first, uint64_t count);

/* Whether a run is in the list: then no object is in it that the caller knows to be inserted. */
bool table_has_given(const haft_table *table, uint64_t run);

/* fresh.c: slots never used, or not since their memory was given back */

/* The worker's extent, which is empty, has `count` slots from `first` on; used before or not. */
void worker_give_fresh(haft_worker *worker, uint64_t first, uint64_t count, bool again);

/*
 * Up to `most` fresh slots: how many, from `*first` on.  0 if there are none, with HAFT_FULL or
 * HAFT_NO_MEMORY in `*status`.
 */
uint64_t worker_take_fresh(haft_worker *worker, uint64_t most, uint64_t *first,
                           haft_status *status);

/* Fresh slots in the worker's extent, any thread's: those used before, or those never used. */
uint64_t fresh_at_hand(const haft_worker *worker, bool again);

/* Which these are: no slot is in it whose object the caller knows to be inserted. */
haft_range fresh_range(const haft_worker *worker);

/* allocate.c: the way in */

/*
 * Some slots into the empty filling batch, one of which the caller takes at once.  HAFT_OK, or why
 * there are none.
 */
haft_status worker_fill(haft_worker *worker);

/* The id of the next life of slot `index`, whose word is `at`: the worker has it from a batch. */
static inline haft_id next_id(const struct slots *slots, const atomic_u64 *at, uint64_t index)
{
    const uint64_t word = slots_begin(slots, load_relaxed(OWN, at));
    const haft_id id = {word_with_index(&slots->format, word, index)};

    return id;
}

/* What haft_reserve, haft_insert, haft_free and haft_abort do, called from `caller`. */
haft_status worker_reserve(haft_worker *worker, haft_id *id, void **object, const void *caller);
haft_status worker_insert(haft_worker *worker, const void *object, haft_id *id, const void *caller);
haft_status worker_free(haft_worker *worker, haft_id id, const void *caller);
void worker_abort(haft_worker *worker, haft_id id, const void *caller);

/* An object comes, `more` if it is not counted yet: on_fill, if it is time.  No lock is held. */
void table_look_at_fill(haft_table *table, uint64_t more);

/* Mark its slot as reserved. */
static inline void mark_reserved(const struct slots *slots, atomic_u64 *word, haft_id id)
{
    slots_wake(slots, word);
    store_relaxed(OWN, word, word_with_index(&slots->format, id.bits, MARK_RESERVED));
}

/* exact.c: the counter of a table that is_exact */

/* Whether it is, and no object more is allowed. */
bool exact_is_full(const haft_table *table);

/* Room for up to `most` objects more.  How many; 0: it is full. */
uint64_t exact_take(haft_table *table, uint64_t most);
void exact_give(haft_table *table);

/* shelf.c: batches on their way */

/* An empty batch for this worker. */
struct batch *worker_empty_batch(haft_worker *worker);
void worker_give_batch(haft_worker *worker, struct batch *batch);

/* Where others can take it: one of the worker's rings, or the depot. */
void worker_shelve(haft_worker *worker, struct batch *batch);

/* The same of a batch that may be reused at once: full ones come before fresh slots, to anyone. */
void worker_offer(haft_worker *worker, struct batch *batch);

/* A batch that may be reused: one of the worker's own, or the depot's; NULL if there is none. */
struct batch *worker_take_ready(haft_worker *worker);

/* The same from the rings of the other workers, open or closed. */
struct batch *worker_steal_ready(haft_worker *worker);

/* retire.c: the way out */

/* Close the open batch, if there is anything in it: it takes its ticket and is shelved. */
void worker_close_batch(haft_worker *worker);

/* What free says of an id that was not live when it looked; counted. */
haft_status worker_refusal(haft_worker *worker, haft_id id);

/*
 * End the life of `id`: its slot is the caller's to count as freed and to put into the open batch.
 * HAFT_OK to one of all who try, else worker_refusal().
 */
static inline haft_status worker_claim(haft_worker *worker, haft_id id)
{
    const haft_table *table = worker->table;
    const struct word_format *format = &table->slots.format;
    atomic_u64 *word = slots_word(&table->slots, id.bits & table->slots.view.mask);

    /* A compare-and-swap that must fail would still dirty the line. */
    if (load_relaxed(RETRY, word) != id.bits) {
        return worker_refusal(worker, id);
    }
    const uint64_t next = word_next_life(format, id.bits, MARK_FREE);

    /* Weakened, the slot's next tenant could be written before the object's first bytes are. */
    if (!cas_acquire(PUBLISH, word, id.bits, next)) {
        return worker_refusal(worker, id);
    }
    if (word_generation(format, next) == 0) {
        worker->open->has_last_lives = true;
    }
    return HAFT_OK;
}

/* implicit.c */

/* A number for a new table. */
uint64_t table_number(void);

/* Threads that end close their implicit workers under this lock. */
void implicit_lock(void);
void implicit_unlock(void);

/* Close the implicit workers of a table that ends. */
void table_close_implicit(haft_table *table);

/* pin.c */

/* Take a retired slot over after its grace period.  False: its last pin will. */
bool pin_take(const haft_table *table, uint64_t index);

/* Whether any object is pinned, when nobody else uses the table. */
bool table_has_pins(const haft_table *table);

/*
 * Take back all that was freed, and what that frees, when nobody else uses the table: its closing
 * is asked for, so no thread resolves, frees or opens a worker until this returns.  Readers that
 * are still inside are waited for.  Blocking, a quiescent point; the table can be used as ever
 * afterwards.
 */
void table_take_all_back(haft_table *table);

/* reclaim.c: the way back */

/* Take the slots of a batch back: on_reclaim; those that nobody may take from it are left out. */
void worker_reclaim(haft_worker *worker, struct batch *batch);

/* The same of a batch that is shelved again, or has nothing left. */
void worker_take_back(haft_worker *worker, struct batch *batch);

/* restore.c: slots that are set aside */

/* A slot of the range is about to be taken back. */
void restore_give_back(haft_table *table);

/* stats.c */

/*
 * Why `worker` found no slot: HAFT_BUSY if waiting will help, else HAFT_FULL or what was said of
 * `fresh` slots.
 */
haft_status table_shortage(const haft_table *table, const haft_worker *worker, haft_status fresh);

#endif /* HAFT_CONCURRENT_TABLE_H */

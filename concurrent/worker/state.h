/*
 * concurrent/worker/state.h - the structs of the shared table and its workers.
 *
 * Where a slot is when it is not live, reserved or fresh: in the filling or open batch of one
 * worker (private); in a worker's ring or a depot, from which any worker may take it; in one of
 * the table's lists; or in a call that has not returned.  Batches that wait for a grace period and
 * batches that are ready never share a ring or a depot.  Workers hold slots privately within a
 * budget, so the table holds its capacity whatever they hold back.
 */
#ifndef HAFT_CONCURRENT_STATE_H
#define HAFT_CONCURRENT_STATE_H

#include "concurrent/batches/depot.h"
#include "concurrent/batches/pool.h"
#include "concurrent/batches/ring.h"
#include "concurrent/clock/domain.h"
#include "concurrent/worker/counters.h"
#include "lib/slots/slots.h"
#include <haft/local.h>
#include <haft/table.h>

/* A ticket that a worker took, and the slots it had retired until then. */
struct closing {
    uint64_t ticket;
    uint64_t retired;
};

/* Slots that a worker has retired under tickets that are not done: oldest closing first. */
struct backlog {
    uint64_t first;   /* closings ever done or forgotten */
    uint64_t next;    /* closings ever */
    uint64_t retired; /* slots ever retired */
    uint64_t done;    /* of them, done as far as known */
    uint64_t handed;  /* of them, handed over */
    struct closing closings[CLOSINGS];
};

/* The state and the thread of a worker in one word: state | thread_number() << STATE_BITS. */
enum worker_state {
    WORKER_CLOSED,   /* no thread's: any may open or borrow it */
    WORKER_OPEN,     /* between haft_worker_open() and haft_worker_close() */
    WORKER_BORROWED, /* for one call: a close, or trim and its kin */
    WORKER_ENDED     /* closed, when the table is cleared: any may borrow it */
};
#define STATE_BITS 2

/* Begins as struct haft_worker_front does (haft/detail/table_front.h), up to two counters. */
struct haft_worker {
    uint32_t version;     /* HAFT_TABLE_FRONT */
    uint32_t object_size; /* if haft_insert() may copy by words */
    uint64_t above_index;
    uint64_t used_from;
    uint64_t called_from;
    uint64_t last_life;
    haft_view view;

    /* Positions in the two batches below: see worker_batches.h. */
    uintptr_t use_at;
    uintptr_t free_at;
    uint64_t use_to;
    uint64_t look_at;
    struct counters counters;

    haft_table *table;
    struct member *member;               /* the thread, for the domain's clock */
    struct batch *filling;               /* slots to be used */
    struct batch *open;                  /* slots retired since the last closing */
    struct batch *spares[SPARE_BATCHES]; /* empty descriptors */
    uint32_t spare_count;
    uint32_t batch_limit;    /* batch limit: the worker may hold back 2 * (batch_limit - 1) slots */
    uint32_t lift;           /* of its thread's nesting state: see jobs_and_parks.h */
    uint64_t callback;       /* that it was opened in; 0: none */
    struct segment *segment; /* of descriptors, brought last by its thread */
    bool is_to_draw;         /* open, and it has not drawn from the budget */
    bool is_movable;         /* the frame clock lets it go from thread to thread */
    uint64_t swept;          /* tickets done when it last found no elapsed batch anywhere */
    uint64_t failures_seen;  /* the table's, when last answered */
    uint64_t failures_before; /* and when the worker was opened: it does not wait for that */
    uint64_t ended_seen;      /* objects and reservations ever ended, at the last quiescent point */
    struct backlog backlog;

    _Alignas(CACHE_LINE) struct ring waiting; /* closed batches, with their tickets */
    _Alignas(CACHE_LINE) struct ring ready;   /* batches that may be reused at once */
    _Alignas(CACHE_LINE) atomic_u64 extent;   /* fresh slots that it has drawn: see fresh.c */
    atomic_u64 state;
    atomic_u64 transit;       /* odd: the worker may have waiting slots: see handed.h */
    atomic_u64 moves;         /* how often its ring had no room for a batch that waits */
    atomic_u64 segments;      /* of descriptors that it has brought: see descriptors.h */
    struct haft_worker *next; /* in the worker list; constant */
};

/* A stack with a tagged head: see lists.h. */
struct slot_list {
    atomic_u64 head;
};

/* The lists, and where their slots go. */
enum list_kind {
    LIST_FREED,    /* by haft_table_free(): a ticket, and then like other freed slots */
    LIST_UNPINNED, /* past their grace period, and the last pin is gone: on_reclaim, then ready */
    LIST_COUNT
};

/* The slots of a former local table that the shared one has not used yet: see share.c. */
struct inherited {
    haft_local *local; /* the local table's options; NULL: it was none */
    atomic_u64 listed; /* the first of its free slots, or MARK_END */
};

/* Runs whose memory was released, to be drawn as fresh slots again: see released.c. */
struct released {
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
    bool is_quick;         /* haft_insert may copy without a call */
    bool reclaims_by_slot; /* each slot that is reclaimed is looked at */
    bool never_waits;      /* no quiescent point waits for a grace period */
    uint64_t capacity;
    uint64_t budget_size;
    uint64_t waiting_bytes; /* the option; 0: a bound for quiescent points only */
    uint64_t waiting_slots; /* the same in slots */
    uint64_t backlog_slots; /* that a worker lets wait */
    uint64_t backlog_worth; /* for which it looks at what other threads have announced */
    uint64_t used_from;     /* as in struct haft_worker_front, for calls that are checked */
    uint64_t last_life;
    const char *name; /* behind the struct */

    _Alignas(CACHE_LINE) atomic_u64 fresh;    /* slots below are used, or in a worker's extent */
    _Alignas(CACHE_LINE) atomic_u64 failures; /* times that a thread found no slot */
    atomic_u64 budget;                        /* slots that workers may still hold back */
    atomic_u64 workers; /* address of the worker added last | 1: none is opened any more */
    atomic_u64 handed;  /* the highest ticket handed over, or 0: see handed.h */
    _Alignas(CACHE_LINE) struct depot waiting; /* full batches, with their tickets */
    struct depot ready;                        /* full batches that may be reused at once */
    _Alignas(CACHE_LINE) struct slot_list lists[LIST_COUNT];
    struct counters counters; /* of haft_table_free(), whose callers add atomically */
    struct inherited inherited;
    struct released released;
    atomic_u64 trimming; /* 1: a thread takes slots out of all batches (trim) */
    atomic_u64 drawing;  /* fresh slots that refills ask for, with waiting_bytes: see refill.c */

    uint64_t number;        /* no other table ever has it */
    haft_table *next_open;  /* in the list of all: see open.c */
    haft_table **open_link; /* the pointer to this one in it */

    atomic_u64 attached; /* what lies beside the slots; not 0: the table stays open.  Under the
                            registry's lock */
};

/*
 * The pins of an object: their number, in the lower half; and a flag, set when its slot was to be
 * reclaimed and had pins: then the last unpin puts it into the list of unpinned ones.
 */
#define PIN_ELAPSED (UINT64_C(1) << 63)
#define PIN_COUNT UINT64_C(0xffffffff)

/* Whether calls with a worker are checked (debug_check): then programs make none in place. */
static inline bool debug_is_on(void)
{
#if defined(NDEBUG) || defined(HAFT_HOOKED)
    return false;
#else
    return true;
#endif
}

#endif /* HAFT_CONCURRENT_STATE_H */

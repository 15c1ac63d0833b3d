/*
 * concurrent/batches/batch.h - batches of slots, and the pool their descriptors come from.
 *
 * A batch is an array of slot indices that travels as one.  Everything in it but the atomics
 * belongs to its holder: a worker, or for a moment the thread that takes it from a ring or
 * from the depot.
 *
 * The pool has a descriptor for each batch that can exist, so retiring never allocates and never
 * fails: batches in the depots are full, so there are no more of them than slots / batch_max; all
 * others sit with workers, and each worker brings what it can hold.
 */
#ifndef HAFT_CONCURRENT_BATCH_H
#define HAFT_CONCURRENT_BATCH_H

#include "lib/base/reservation.h"

#define BATCH_SLOTS 128  /* a batch's most: the shared operations of a batch are spread over them */
#define RING_BATCHES 128 /* that wait in one of a worker's rings: more than its backlog at rest */
#define SPARE_BATCHES 16 /* empty ones that a worker keeps, in its own cache */

/* Of one worker: two rings, spares, the filling and the open one, eight in its hands. */
#define WORKER_BATCHES (2 * RING_BATCHES + SPARE_BATCHES + 10)

struct batch {
    atomic_u64 ticket;     /* may be reused when the domain has done it; 0: at once */
    atomic_u64 pool_next;  /* in the pool: the next one's number */
    atomic_u64 node_next;  /* as a node of the depot: the next node, tagged */
    atomic_u64 node_batch; /* as a node of the depot: the batch that waits there */
    uint64_t number;       /* this descriptor */
    uint64_t node;         /* the depot node that it brings along */
    uint32_t count;        /* indices */
    bool has_last_lives;   /* some slot has lived its last generation */
    _Alignas(CACHE_LINE) uint32_t indices[BATCH_SLOTS];
};

/*
 * A number with a tag, in one word: what the depot and the pool exchange.  A thread that stalls
 * between its load and its compare-and-swap is mistaken only if the other threads make an exact
 * multiple of 2^30 exchanges meanwhile.
 */
#define NUMBER_BITS 34
#define NUMBER_NONE ((UINT64_C(1) << NUMBER_BITS) - 1)

static inline uint64_t tagged_number(uint64_t tagged)
{
    return tagged & NUMBER_NONE;
}

/* `number` under the tag that follows `tagged`'s. */
static inline uint64_t tagged_next(uint64_t tagged, uint64_t number)
{
    return ((tagged >> NUMBER_BITS) + 1) << NUMBER_BITS | number;
}

/* The descriptors that one worker brings. */
struct segment {
    uint64_t place;  /* in the pool's directory; set by pool_add() */
    atomic_u64 used; /* handed out once, from the start */
    struct batch batches[WORKER_BATCHES];
};

struct pool {
    struct reservation table;     /* the descriptors for the depot */
    uint64_t table_count;         /* how many */
    struct reservation directory; /* addresses of segments, as words */

    _Alignas(CACHE_LINE) atomic_u64 top; /* of the stack of unused descriptors, tagged */
    atomic_u64 table_used;               /* descriptors handed out once, from the start */
    atomic_u64 segments;                 /* how many */
};

/* `batches`: the most that can wait in the depot at once.  HAFT_OK or HAFT_NO_MEMORY. */
haft_status pool_open(struct pool *pool, uint64_t batches);
void pool_close(struct pool *pool);

/* Make sure of memory for `batches` in the depot.  HAFT_OK or HAFT_NO_MEMORY. */
haft_status pool_commit(struct pool *pool, uint64_t batches);

/*
 * Add a worker's descriptors, none of them used: `used` is 0, the rest of any contents.  HAFT_OK
 * or HAFT_NO_MEMORY.  Lock-free.
 */
haft_status pool_add(struct pool *pool, struct segment *segment);

/*
 * An empty batch; there always is one.  Lock-free.  Unused ones of `own` come first, if it is not
 * NULL: descriptors that lie together are fetched together, so they should be one thread's.
 */
struct batch *pool_take(struct pool *pool, struct segment *own);

/* Give an empty batch back.  Lock-free. */
void pool_give(struct pool *pool, struct batch *batch);

/* Descriptors ever handed out; those of them that lie in the pool.  When no call is under way. */
uint64_t pool_handed_out(const struct pool *pool);
uint64_t pool_unused(const struct pool *pool);

/* All descriptors are as never used, when the caller alone has the pool. */
void pool_reset(struct pool *pool);

/* The descriptor with this number, which some batch was seen to have. */
struct batch *pool_batch(const struct pool *pool, uint64_t number);

/* Move slots from the end of `from` to `to`, until `to` has `most` or `from` is empty. */
void batch_move(struct batch *to, struct batch *from, uint32_t most);

#endif /* HAFT_CONCURRENT_BATCH_H */

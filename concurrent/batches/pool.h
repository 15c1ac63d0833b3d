/*
 * concurrent/batches/pool.h - the pool that descriptors of batches come from.
 *
 * The pool has a descriptor for each batch that can exist, so retiring never allocates and never
 * fails.  Batches in the depots are full: there are at most slots / batch_max of them.  All others
 * are with workers, and each worker holds as many as it has brought descriptors for, in segments.
 */
#ifndef HAFT_CONCURRENT_POOL_H
#define HAFT_CONCURRENT_POOL_H

#include "concurrent/batches/batch.h"
#include "lib/base/reservation.h"

/* A worker's batches in no ring: the filling and the open one, eight in use. */
#define PRIVATE_BATCHES 10

#define MOST_SEGMENTS (UINT64_C(1) << 23) /* in one table */

/* The directory of segments: part p has DIRECTORY_LEAST << p places, behind those of part p - 1. */
#define DIRECTORY_LEAST 16
#define DIRECTORY_PARTS 20 /* with places for MOST_SEGMENTS */

/* The descriptors that a worker brings at once. */
struct segment {
    uint64_t place;  /* in the pool's directory */
    atomic_u64 used; /* used once, from the start */
    struct batch batches[SEGMENT_BATCHES];
};

struct pool {
    struct reservation table;   /* the descriptors for the depot */
    uint64_t table_count;       /* how many */
    const haft_allocator *heap; /* for the table, segments, and parts of the directory */
    atomic_u64
        directory[DIRECTORY_PARTS]; /* addresses of parts, which hold addresses of segments */

    _Alignas(CACHE_LINE) atomic_u64 top; /* of the stack of unused descriptors, tagged */
    atomic_u64 table_used;               /* descriptors used once, from the start */
    atomic_u64 segments;                 /* how many */
};

/* `batches`: the most that the depot may hold.  `heap` must last.  HAFT_OK or HAFT_NO_MEMORY. */
haft_status pool_open(struct pool *pool, uint64_t batches, const haft_allocator *heap);

void pool_close(struct pool *pool);

/* Make sure of memory for `batches` in the depot.  HAFT_OK or HAFT_NO_MEMORY. */
haft_status pool_commit(struct pool *pool, uint64_t batches);

/* Have the system find it now, and all segments; it was made sure of. */
haft_status pool_populate(const struct pool *pool, uint64_t batches);

/* Add a segment, which is the pool's; NULL: no memory.  Lock-free, except in the allocator. */
struct segment *pool_grow(struct pool *pool);

/*
 * An empty batch; there always is one.  Lock-free.  Unused ones of `own` come first, if it is not
 * NULL: descriptors that lie together are fetched together, so they should be one thread's.
 */
struct batch *pool_take(struct pool *pool, struct segment *own);

/* Give an empty batch back.  Lock-free. */
void pool_give(struct pool *pool, struct batch *batch);

/* Descriptors ever used; those of them that lie in the pool.  When no call is under way. */
uint64_t pool_used(const struct pool *pool);
uint64_t pool_unused(const struct pool *pool);

/* The descriptor with this number, which some batch was seen to have. */
struct batch *pool_batch(const struct pool *pool, uint64_t number);

#endif /* HAFT_CONCURRENT_POOL_H */

/*
 * concurrent/batches/depot.h - where full batches wait for which no worker's ring has room.
 *
 * A first-in first-out queue, so that the batches that have waited longest come first: the queue
 * of M. Michael and M. Scott ("Simple, fast, and practical non-blocking and blocking concurrent
 * queue algorithms", PODC 1996), with numbers of descriptors and tags instead of pointers.  Each
 * batch brings the node it waits in and leaves with the node that the queue's head gives up.
 */
#ifndef HAFT_CONCURRENT_DEPOT_H
#define HAFT_CONCURRENT_DEPOT_H

#include "concurrent/batches/batch.h"
#include "concurrent/batches/pool.h"

#define DEPOT_NODES 3 /* descriptors beside the batches: a node for each depot, and one to spare */

struct depot {
    _Alignas(CACHE_LINE) atomic_u64 head; /* tagged number of the node before the first */
    _Alignas(CACHE_LINE) atomic_u64 tail; /* tagged number of the last node, or of the one before */
};

void depot_open(struct depot *depot, struct pool *pool);

/* Lock-free. */
void depot_push(struct depot *depot, const struct pool *pool, struct batch *batch);

/* The oldest batch if its ticket is at most `done`, else NULL.  Lock-free. */
struct batch *depot_take(struct depot *depot, const struct pool *pool, uint64_t done);

#endif /* HAFT_CONCURRENT_DEPOT_H */

/*
 * concurrent/batches/ring.h - a worker's closed batches, oldest first.
 *
 * The owner pushes at the tail; anyone, the owner too, takes from the head.  Head and tail only
 * grow, so a compare-and-swap of the head proves that the cell read before it was current.
 */
#ifndef HAFT_CONCURRENT_RING_H
#define HAFT_CONCURRENT_RING_H

#include "concurrent/batches/batch.h"
#include "concurrent/batches/pool.h"

struct ring {
    atomic_u64 head;                /* batches ever taken */
    atomic_u64 tail;                /* batches ever pushed */
    atomic_u64 cells[RING_BATCHES]; /* numbers of descriptors */
};

/* False if the ring is full.  Owner only; wait-free. */
bool ring_push(struct ring *ring, const struct batch *batch);

/* Batches in the ring, or more if others take some meanwhile.  Owner only; wait-free. */
uint64_t ring_length(const struct ring *ring);

/* The oldest batch if its ticket is at most `done`, else NULL.  Anyone; lock-free. */
struct batch *ring_take(struct ring *ring, const struct pool *pool, uint64_t done);

#endif /* HAFT_CONCURRENT_RING_H */

/*
 * The ring of a worker's closed batches: one thread pushes, all take.
 *
 * Edges in this file.
 *   RING       ring_push (release) -> ring_take (acquire)   a batch's contents
 *   RING_ROOM  ring_take (release) -> ring_push (acquire)   the cell is read before it is reused;
 *              ring_take (release) -> ring_take (acquire)   the taker's mark of transit (handed.h)
 *   OWN        only the owner writes the tail
 *   RETRY      a first look; the compare-and-swap of the head decides
 *   HINT       a length that is a moment old
 */
#include "concurrent/batches/ring.h"
#include "concurrent/batches/pool.h"
#include <assert.h>
#include <stddef.h>

bool ring_push(struct ring *ring, const struct batch *batch)
{
    const uint64_t tail = load_relaxed(OWN, &ring->tail);
    /* Weakened, a taker could read the new batch's number in place of the old one's. */
    const uint64_t head = load_acquire(RING_ROOM, &ring->head);

    assert(tail - head <= RING_BATCHES && batch->count <= BATCH_SLOTS);
    if (tail - head == RING_BATCHES) {
        return false;
    }
    store_release(RING, &ring->cells[tail % RING_BATCHES], batch->number);
    /* Weakened, a taker could read indices that were in the batch before. */
    store_release(RING, &ring->tail, tail + 1);
    return true;
}

uint64_t ring_length(const struct ring *ring)
{
    return load_relaxed(OWN, &ring->tail) - load_relaxed(HINT, &ring->head);
}

struct batch *ring_take(struct ring *ring, const struct pool *pool, uint64_t done)
{
    for (;;) {
        /* Weakened, a thread that finds the ring empty could miss that the taker has its batch. */
        const uint64_t head = load_acquire(RING_ROOM, &ring->head);
        const uint64_t tail = load_acquire(RING, &ring->tail);

        if (head >= tail) {
            return NULL;
        }
        /* Acquired, since it may be a later batch's: its descriptor is read before the
         * compare-and-swap fails. */
        const uint64_t number = load_acquire(RING, &ring->cells[head % RING_BATCHES]);
        struct batch *batch = pool_batch(pool, number);

        if (load_relaxed(RETRY, &batch->ticket) > done) {
            return NULL;
        }
        if (cas_release(RING_ROOM, &ring->head, head, head + 1)) {
            return batch;
        }
    }
}

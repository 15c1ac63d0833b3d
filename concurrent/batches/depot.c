/*
 * The depot: a queue of batches.
 *
 * Edges in this file.
 *   DEPOT  depot_push (release) -> depot_take, depot_push (acquire)   a batch's contents, and the
 *          fresh link of its node; depot_take (release) -> depot_take, depot_push (acquire)   the
 *          reads of a node before it is used again
 *   OWN    this thread alone has the node
 *   RETRY  a first look; the compare-and-swap of the head decides
 */
#include "concurrent/batches/depot.h"
#include "concurrent/batches/pool.h"
#include "concurrent/batches/tagged.h"
#include <assert.h>
#include <stddef.h>

void depot_open(struct depot *depot, struct pool *pool)
{
    const struct batch *first = pool_take(pool, NULL);

    store_relaxed(OWN, &depot->head, first->node);
    store_relaxed(OWN, &depot->tail, first->node);
}

void depot_push(struct depot *depot, const struct pool *pool, struct batch *batch)
{
    assert(batch->count <= BATCH_SLOTS);
    struct batch *node = pool_batch(pool, batch->node);
    const uint64_t link = load_relaxed(OWN, &node->node_next);

    store_release(DEPOT, &node->node_batch, batch->number);
    /* Released, for threads that still hold this node from an earlier look: when they look at head
     * or tail again, they see that it has left. */
    store_release(DEPOT, &node->node_next, tagged_next(link, NUMBER_NONE));
    for (;;) {
        const uint64_t tail = load_acquire(DEPOT, &depot->tail);
        struct batch *last = pool_batch(pool, tagged_number(tail));
        const uint64_t next = load_acquire(DEPOT, &last->node_next);

        if (tail != load_acquire(DEPOT, &depot->tail)) {
            continue;
        }
        if (tagged_number(next) != NUMBER_NONE) { /* the tail lags: help it on */
            cas_release(DEPOT, &depot->tail, tail, tagged_next(tail, tagged_number(next)));
            continue;
        }
        /* Weakened, a taker could read indices that were in the batch before. */
        if (cas_release(DEPOT, &last->node_next, next, tagged_next(next, node->number))) {
            cas_release(DEPOT, &depot->tail, tail, tagged_next(tail, node->number));
            return;
        }
    }
}

struct batch *depot_take(struct depot *depot, const struct pool *pool, uint64_t done)
{
    for (;;) {
        const uint64_t head = load_acquire(DEPOT, &depot->head);
        const uint64_t tail = load_acquire(DEPOT, &depot->tail);
        struct batch *before = pool_batch(pool, tagged_number(head));
        const uint64_t next = load_acquire(DEPOT, &before->node_next);

        if (head != load_acquire(DEPOT, &depot->head)) {
            continue;
        }
        if (tagged_number(next) == NUMBER_NONE) {
            return NULL;
        }
        if (tagged_number(head) == tagged_number(tail)) { /* the tail lags: help it on */
            cas_release(DEPOT, &depot->tail, tail, tagged_next(tail, tagged_number(next)));
            continue;
        }
        const struct batch *node = pool_batch(pool, tagged_number(next));
        struct batch *batch = pool_batch(pool, load_acquire(DEPOT, &node->node_batch));

        if (load_relaxed(RETRY, &batch->ticket) > done) {
            return NULL;
        }
        if (cas_release(DEPOT, &depot->head, head, tagged_next(head, tagged_number(next)))) {
            assert(batch->count <= BATCH_SLOTS);
            batch->node = tagged_number(head);
            return batch;
        }
    }
}

/*
 * concurrent/batches/batch.h - batches of slots (Bonwick's magazines).
 *
 * A batch is an array of slot indices that travels as one.  Its holder owns everything in it except
 * the atomics: a worker, or for a moment the thread that takes it from a ring or a depot.
 */
#ifndef HAFT_CONCURRENT_BATCH_H
#define HAFT_CONCURRENT_BATCH_H

#include "concurrent/batches/tuning.h"
#include "lib/base/atomics.h"
#include <haft/id.h>
#include <stdbool.h>

struct batch {
    uint32_t count;       /* indices; 0 in a worker's filling or open batch: see worker_batches.h */
    bool has_last_lives;  /* some slot has lived its last generation */
    atomic_u64 ticket;    /* may be reused when the domain has done it; 0: at once */
    atomic_u64 pool_next; /* in the pool: the next one's number */
    atomic_u64 node_next; /* as a node of the depot: the next node, tagged */
    atomic_u64 node_batch; /* as a node of the depot: the batch that waits there */
    uint64_t number;       /* this descriptor */
    uint64_t node;         /* the depot node that it brings along */
    _Alignas(CACHE_LINE) uint32_t indices[BATCH_SLOTS];
};

/* Move slots from the end of `from` to `to`, until `to` has `most` or `from` is empty. */
void batch_move(struct batch *to, struct batch *from, uint32_t most);

/* Whether its indices are those of slots, and no two alike; not of a filling or open batch. */
static inline bool batch_is_sound(const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        if (batch->indices[i] < HAFT_FIRST_INDEX) {
            return false;
        }
        for (uint32_t other = 0; other < i; other++) {
            if (batch->indices[other] == batch->indices[i]) {
                return false;
            }
        }
    }
    return batch->count <= BATCH_SLOTS;
}

#endif /* HAFT_CONCURRENT_BATCH_H */

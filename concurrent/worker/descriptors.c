/*
 * Batch descriptors that a worker brings.
 *
 * Edges in this file.
 *   HINT   how many segments the worker has brought: a descriptor that is not seen in the pool yet
 *          is waited for there
 */
#include "concurrent/worker/descriptors.h"
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/domain.h"
#include <assert.h>
#include <stddef.h>

/* With these no ring is shorter than it can be. */
#define SEGMENTS_MOST                                                                              \
    ((PRIVATE_BATCHES + RING_BATCHES + READY_BATCHES + SPARE_BATCHES + SEGMENT_BATCHES - 1) /      \
     SEGMENT_BATCHES)

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Descriptors beyond those of the batches in use. */
static uint64_t beyond_private(const haft_worker *worker)
{
    const uint64_t segments = load_relaxed(HINT, &worker->segments);

    assert(segments != 0 && "a worker begins with one");
    return segments * SEGMENT_BATCHES - PRIVATE_BATCHES;
}

uint64_t descriptors_spare(const haft_worker *worker)
{
    return least(beyond_private(worker) / 4, SPARE_BATCHES);
}

uint64_t descriptors_ready(const haft_worker *worker)
{
    return least(beyond_private(worker) / 4, READY_BATCHES);
}

uint64_t descriptors_waiting(const haft_worker *worker)
{
    const uint64_t left =
        beyond_private(worker) - descriptors_spare(worker) - descriptors_ready(worker);

    return least(left, RING_BATCHES);
}

struct segment *descriptors_bring(haft_worker *worker)
{
    struct segment *segment = pool_grow(&worker->table->pool);

    fetch_add_relaxed(HINT, &worker->segments, segment != NULL);
    return segment;
}

bool descriptors_bring_all(haft_worker *worker)
{
    bool has = true;

    while (has && load_relaxed(HINT, &worker->segments) < SEGMENTS_MOST) {
        has = descriptors_bring(worker) != NULL;
    }
    return has;
}

static bool is_crowded(const struct ring *ring, uint64_t most)
{
    return ring_length(ring) >= most;
}

/* In the child of a fork the allocator may be locked for ever: it keeps what it has. */
void descriptors_keep_up(haft_worker *worker)
{
    const bool has_failed =
        is_crowded(&worker->waiting, PARTIAL_BATCHES(descriptors_waiting(worker))) ||
        is_crowded(&worker->ready, descriptors_ready(worker));

    if (has_failed && load_relaxed(HINT, &worker->segments) < SEGMENTS_MOST &&
        domain_check_process(worker->table->domain) == HAFT_OK) {
        struct segment *segment = descriptors_bring(worker);

        worker->segment = segment != NULL ? segment : worker->segment;
    }
}

/*
 * concurrent/worker/worker_batches.h - the two batches that a worker works with; the worker's
 * counts are its positions in them (struct haft_worker_front in haft/detail/table_front.h).
 *
 * A reservation takes a slot and an abort adds one without a change of these counts, so they shift
 * the addresses instead (use_at, free_at).  The count in such a batch is 0.
 *
 * All functions: the worker's thread, wait-free.
 *
 * Edges in this file.
 *   OWN   counts that this worker alone writes
 */
#ifndef HAFT_CONCURRENT_WORKER_BATCHES_H
#define HAFT_CONCURRENT_WORKER_BATCHES_H

#include "concurrent/worker/state.h"
#include <assert.h>
#include <haft/detail/table_front.h>
#include <string.h>

/*
 * The bounds of what a call does in place.  In debug builds the worker's members of these names
 * send programs to the calls, so the calls look at the table's.
 */
static inline uint64_t front_used_from(const haft_worker *worker)
{
    return debug_is_on() ? worker->table->used_from : worker->used_from;
}

static inline uint64_t front_last_life(const haft_worker *worker)
{
    return debug_is_on() ? worker->table->last_life : worker->last_life;
}

/* --- the filling batch --- */

static inline uint32_t filling_count(const haft_worker *worker)
{
    return (uint32_t)(worker->use_to - load_relaxed(OWN, &worker->counters.inserted));
}

/* The slots to be used, next one first. */
static inline uint32_t *filling_next(const haft_worker *worker)
{
    return haft_front_place(worker->use_at, load_relaxed(OWN, &worker->counters.inserted));
}

/* Take the next slots without counting insertions.  (An insertion's count takes its slot.) */
static inline void filling_use(haft_worker *worker, uint32_t count)
{
    assert(count <= BATCH_SLOTS && worker->use_to >= count);
    worker->use_at += count * sizeof(uint32_t);
    worker->use_to -= count;
}

/* The batch's slots are to be used next. */
static inline void filling_set(haft_worker *worker, struct batch *batch)
{
    const uint64_t inserted = load_relaxed(OWN, &worker->counters.inserted);

    assert(batch->count <= BATCH_SLOTS && batch != worker->open);
    worker->filling = batch;
    worker->use_at = (uintptr_t)batch->indices - (uintptr_t)inserted * sizeof(uint32_t);
    worker->use_to = inserted + batch->count;
    batch->count = 0;
}

/* The filling batch with the slots to be used: filling_set() puts one in its place. */
static inline struct batch *filling_detach(haft_worker *worker)
{
    struct batch *batch = worker->filling;

    assert(batch->count == 0 && "the count of such a batch is the worker's");
    batch->count = filling_count(worker);
    assert(batch->count <= BATCH_SLOTS);
    memmove(batch->indices, filling_next(worker), batch->count * sizeof batch->indices[0]);
    return batch;
}

/* --- the open batch --- */

/* Where the slot goes that is freed next. */
static inline uint32_t *open_batch_place(const haft_worker *worker)
{
    return haft_front_place(worker->free_at, load_relaxed(OWN, &worker->counters.freed));
}

static inline uint32_t open_batch_count(const haft_worker *worker)
{
    return (uint32_t)(open_batch_place(worker) - worker->open->indices);
}

/* Tables whose frees always have more to do than to put a slot into the batch. */
static inline bool open_batch_always_looks(const haft_table *table)
{
    return table->slots.sites.records != NULL;
}

/* A free looks further when the open batch gets as many slots as the batch limit. */
static inline void open_batch_set_look(haft_worker *worker)
{
    const uint64_t freed = load_relaxed(OWN, &worker->counters.freed);
    const uint32_t count = open_batch_count(worker);
    const uint64_t left = worker->batch_limit - (uint64_t)count;

    assert(worker->batch_limit <= BATCH_SLOTS && count <= BATCH_SLOTS);
    worker->look_at = open_batch_always_looks(worker->table) ? 0 : freed + left;
}

/* An empty batch is the open one. */
static inline void open_batch_set(haft_worker *worker, struct batch *batch)
{
    const uint64_t freed = load_relaxed(OWN, &worker->counters.freed);

    assert(batch->count == 0 && batch != worker->filling);
    worker->open = batch;
    worker->free_at = (uintptr_t)batch->indices - (uintptr_t)freed * sizeof(uint32_t);
    open_batch_set_look(worker);
}

/* The open batch with its slots: open_batch_set() puts one in its place. */
static inline struct batch *open_batch_detach(haft_worker *worker)
{
    struct batch *batch = worker->open;

    assert(batch->count == 0 && "the count of such a batch is the worker's");
    batch->count = open_batch_count(worker);
    assert(batch->count <= BATCH_SLOTS);
    return batch;
}

/* The slot goes into the open batch, and the free is counted.  True: look further. */
static inline bool open_batch_add_freed(haft_worker *worker, uint64_t index)
{
    const uint64_t freed = load_relaxed(OWN, &worker->counters.freed) + 1;

    uint32_t *place = open_batch_place(worker);

    assert(place >= worker->open->indices && place < worker->open->indices + BATCH_SLOTS);
    *place = (uint32_t)index;
    count_up(&worker->counters.freed, 1);
    return freed >= worker->look_at;
}

/* The slot of a reservation that is given up goes into the open batch.  True: look further. */
static inline bool open_batch_add_aborted(haft_worker *worker, uint64_t index)
{
    uint32_t *place = open_batch_place(worker);

    assert(place >= worker->open->indices && place < worker->open->indices + BATCH_SLOTS);
    *place = (uint32_t)index;
    worker->free_at += sizeof(uint32_t);
    worker->look_at -= worker->look_at != 0;
    return load_relaxed(OWN, &worker->counters.freed) >= worker->look_at;
}

#endif /* HAFT_CONCURRENT_WORKER_BATCHES_H */

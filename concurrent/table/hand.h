/*
 * concurrent/table/hand.h - the two batches in a worker's hand, by positions that its counts are.
 *
 * Slots are used from the front of the filling batch on, and each insertion moves the position on
 * as it is counted: so does each free in the open batch.  What takes or adds a slot and counts
 * otherwise (a reservation, an abort) shifts the batch instead.  While a batch is in hand, its
 * own count is 0.
 *
 * All functions: the worker's thread, wait-free.
 *
 * Edges in this file.
 *   OWN   counts that this worker alone writes
 */
#ifndef HAFT_CONCURRENT_HAND_H
#define HAFT_CONCURRENT_HAND_H

#include "concurrent/table/state.h"
#include <haft/detail/table_front.h>
#include <string.h>

/*
 * What calls may do in place, as programs with the members of these names.  In debug builds those
 * leave everything to the calls.
 */
static inline uint64_t hand_used_from(const haft_worker *worker)
{
    return debug_is_on() ? worker->table->used_from : worker->used_from;
}

static inline uint64_t hand_last_life(const haft_worker *worker)
{
    return debug_is_on() ? worker->table->last_life : worker->last_life;
}

/* --- the filling batch --- */

static inline uint32_t hand_filling_count(const haft_worker *worker)
{
    return (uint32_t)(worker->use_to - load_relaxed(OWN, &worker->counters.inserted));
}

/* The slots to be used, next one first. */
static inline uint32_t *hand_next(const haft_worker *worker)
{
    return haft_front_place(worker->use_at, load_relaxed(OWN, &worker->counters.inserted));
}

/* The next slots are taken, and not as insertions: those are counted, by tally(). */
static inline void hand_take(haft_worker *worker, uint32_t count)
{
    worker->use_at += count * sizeof(uint32_t);
    worker->use_to -= count;
}

/* The batch's slots are to be used next. */
static inline void hand_fill(haft_worker *worker, struct batch *batch)
{
    const uint64_t inserted = load_relaxed(OWN, &worker->counters.inserted);

    worker->filling = batch;
    worker->use_at = (uintptr_t)batch->indices - (uintptr_t)inserted * sizeof(uint32_t);
    worker->use_to = inserted + batch->count;
    batch->count = 0;
}

/* The filling batch with the slots to be used: hand_fill() puts one in its place. */
static inline struct batch *hand_filling(haft_worker *worker)
{
    struct batch *batch = worker->filling;

    batch->count = hand_filling_count(worker);
    memmove(batch->indices, hand_next(worker), batch->count * sizeof batch->indices[0]);
    return batch;
}

/* --- the open batch --- */

/* Where the slot goes that is freed next. */
static inline uint32_t *hand_place(const haft_worker *worker)
{
    return haft_front_place(worker->free_at, load_relaxed(OWN, &worker->counters.freed));
}

static inline uint32_t hand_open_count(const haft_worker *worker)
{
    return (uint32_t)(hand_place(worker) - worker->open->indices);
}

/* Tables whose frees always have more to do than to put a slot into the batch. */
static inline bool hand_always_looks(const haft_table *table)
{
    return table->is_exact || table->slots.sites.records != NULL ||
           table->restore_end != HAFT_FIRST_INDEX;
}

/* A free that makes the open batch full does more: as many slots as the batch limit. */
static inline void hand_set_look(haft_worker *worker)
{
    const uint64_t freed = load_relaxed(OWN, &worker->counters.freed);
    const uint64_t left = worker->batch_limit - (uint64_t)hand_open_count(worker);

    worker->look_at = hand_always_looks(worker->table) ? 0 : freed + left;
}

/* An empty batch is the open one. */
static inline void hand_open(haft_worker *worker, struct batch *batch)
{
    const uint64_t freed = load_relaxed(OWN, &worker->counters.freed);

    worker->open = batch;
    worker->free_at = (uintptr_t)batch->indices - (uintptr_t)freed * sizeof(uint32_t);
    hand_set_look(worker);
}

/* The open batch with its slots: hand_open() puts one in its place. */
static inline struct batch *hand_opened(haft_worker *worker)
{
    struct batch *batch = worker->open;

    batch->count = hand_open_count(worker);
    return batch;
}

/* The slot goes into the open batch as a free, which it counts.  True: look further. */
static inline bool hand_add_freed(haft_worker *worker, uint64_t index)
{
    const uint64_t freed = load_relaxed(OWN, &worker->counters.freed) + 1;

    *hand_place(worker) = (uint32_t)index;
    count_up(&worker->counters.freed, 1);
    return freed >= worker->look_at;
}

/* The slot goes into the open batch, and was not freed.  True: look further. */
static inline bool hand_add_aborted(haft_worker *worker, uint64_t index)
{
    *hand_place(worker) = (uint32_t)index;
    worker->free_at += sizeof(uint32_t);
    worker->look_at -= worker->look_at != 0;
    return load_relaxed(OWN, &worker->counters.freed) >= worker->look_at;
}

#endif /* HAFT_CONCURRENT_HAND_H */

/*
 * Fresh slots: never used, or not since their memory was released; drawn in extents.
 *
 * A worker draws an extent from the table and takes its batches from there, so that the slots of
 * one thread lie together (tuning.h).  Extents are not private: any worker may steal from them.
 *
 * Only the owner fills an extent, when it is empty and so no other compare-and-swap can succeed.
 *
 * Edges in this file.
 *   EXTENT  fresh_give (release) -> take_from_extent, fresh_in_extent (acquire)
 *           the bump above a slot before its use, and before the slot counts as fresh
 *   ONWARD  slots leave an extent before they are used, and none with an object comes into one
 *   COUNT   how far the table's slots were drawn: others may draw meanwhile
 *   RETRY   a first look; the compare-and-swap decides.  The memory needs no order: no thread has
 *           touched it
 */
#include "concurrent/worker/fresh.h"
#include "concurrent/batches/pool.h"
#include "concurrent/worker/descriptors.h"
#include "concurrent/worker/released.h"
#include "concurrent/worker/worker_list.h"
#include <assert.h>
#include <haft/memory.h>

/* An extent: its first slot in the upper half, how many in the lower, and a flag: used before. */
#define AGAIN (UINT64_C(1) << 31)

static uint64_t extent_of(uint64_t first, uint64_t count, uint64_t flag)
{
    assert(first <= UINT32_MAX && count < AGAIN && (flag & ~AGAIN) == 0);
    return first << 32 | flag | count;
}

static uint64_t extent_first(uint64_t extent)
{
    return extent >> 32;
}

static uint64_t extent_count(uint64_t extent)
{
    return extent & (AGAIN - 1);
}

static uint64_t fresh_in_extent(const haft_worker *worker, bool again)
{
    /* Weakened, slots of an extent could count as fresh, and not as drawn. */
    const uint64_t extent = load_acquire(EXTENT, &worker->extent);

    return again == ((extent & AGAIN) != 0) ? extent_count(extent) : 0;
}

haft_range fresh_range(const haft_worker *worker)
{
    const uint64_t extent = load_relaxed(ONWARD, &worker->extent);

    return HAFT_RANGE(extent_first(extent), extent_first(extent) + extent_count(extent));
}

/* Up to `most` slots from an extent, to a multiple of `most`: how many, from `*first` on. */
static uint64_t take_from_extent(atomic_u64 *extent, uint64_t most, uint64_t *first)
{
    for (;;) {
        const uint64_t before = load_relaxed(RETRY, extent);
        const uint64_t count = extent_count(before);

        *first = extent_first(before);
        const uint64_t aligned = most - *first % most;
        const uint64_t taken = count < aligned ? count : aligned;

        if (taken == 0 ||
            /* Weakened, a scan could end below the slots that this worker has from another's. */
            cas_acquire(EXTENT, extent, before,
                        extent_of(*first + taken, count - taken, before & AGAIN))) {
            return taken;
        }
    }
}

/* The descriptors of all batches that the slots below `end` may be in. */
static uint64_t batches_for(const haft_table *table, uint64_t end)
{
    return end / table->batch_max + DEPOT_NODES;
}

/* Memory for the slots below `end`, and for the batches they may be in. */
static haft_status commit(haft_table *table, uint64_t end)
{
    const haft_status status = slots_commit(&table->slots, end);

    return status != HAFT_OK ? status : pool_commit(&table->pool, batches_for(table, end));
}

/* Have memory now for the slots below `end`, and for the batches they may be in. */
static haft_status fresh_populate(haft_table *table, uint64_t end)
{
    haft_status status = commit(table, end);

    status = status == HAFT_OK ? slots_populate(&table->slots, 0, end) : status;
    return status != HAFT_OK ? status : pool_populate(&table->pool, batches_for(table, end));
}

void fresh_give(haft_worker *worker, uint64_t first, uint64_t count, bool again)
{
    assert(count == 0 || first >= HAFT_FIRST_INDEX);
    assert(first + count <= worker->table->slots.limit);
    store_release(EXTENT, &worker->extent, extent_of(first, count, again ? AGAIN : 0));
}

/* A new extent for the worker, whose own is empty.  HAFT_OK, HAFT_FULL or HAFT_NO_MEMORY. */
static haft_status draw(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t most = table->extent_slots;
    uint64_t run;
    const uint64_t run_slots = released_take(table, &run);

    if (run_slots != 0) {
        fresh_give(worker, run, run_slots, true);
        return HAFT_OK;
    }

    for (;;) {
        const uint64_t first = load_relaxed(RETRY, &table->fresh);
        assert(first >= HAFT_FIRST_INDEX && first <= table->slots.limit);
        const uint64_t left = table->slots.limit - first;
        const uint64_t aligned = most - first % most;
        const uint64_t drawn = left < aligned ? left : aligned;

        if (drawn == 0) {
            return HAFT_FULL;
        }
        const haft_status status = commit(table, first + drawn);

        if (status != HAFT_OK) {
            return status;
        }
        if (cas_relaxed(RETRY, &table->fresh, first, first + drawn)) {
            fresh_give(worker, first, drawn, false);
            return HAFT_OK;
        }
    }
}

/* Take from the extents of others, open or closed. */
static uint64_t steal(haft_worker *worker, uint64_t most, uint64_t *first)
{
    uint64_t taken = 0;

    for (haft_worker *other = worker_list_first(worker->table); other != NULL && taken == 0;
         other = other->next) {
        taken = take_from_extent(&other->extent, most, first);
    }
    /* The worker that drew them committed the memory; this load acquires that. */
    commit(worker->table, *first + taken);
    return taken;
}

uint64_t fresh_take(haft_worker *worker, uint64_t most, uint64_t *first, haft_status *status)
{
    uint64_t taken;

    assert(most != 0 && most <= BATCH_SLOTS);
    *status = HAFT_OK;
    while ((taken = take_from_extent(&worker->extent, most, first)) == 0) {
        *status = draw(worker);
        if (*status != HAFT_OK) {
            return steal(worker, most, first);
        }
    }
    return taken;
}

/* --- how many --- */

/* Fresh slots in all extents: those used before, or those never used. */
uint64_t fresh_in_extents(const haft_table *table, bool again)
{
    uint64_t slots = 0;

    for (const haft_worker *worker = worker_list_first(table); worker != NULL;
         worker = worker->next) {
        slots += fresh_in_extent(worker, again);
    }
    return slots;
}

/* Slots ever used: drawn from the table, and in no extent any more. */
uint64_t fresh_used(const haft_table *table)
{
    /* First: an extent drawn in between makes the difference too small.  It is too large only while
     * a thread has taken slots from `fresh` and not yet put them into its extent. */
    const uint64_t drawn = load_relaxed(COUNT, &table->fresh);

    return positive_difference(drawn, HAFT_FIRST_INDEX + fresh_in_extents(table, false));
}

/*
 * --- memory had before it is used ---
 *
 * Each worker has at most one extent of slots that it has drawn and not used.  So while `count`
 * slots are used after the call, no more than these and an extent for each worker are drawn.
 */

/* The first slot that needs no memory now. */
static uint64_t end_of_capacity(const haft_table *table, uint64_t count, uint64_t workers)
{
    const uint64_t drawn = load_relaxed(COUNT, &table->fresh);
    const uint64_t left = table->slots.limit - drawn;
    const uint64_t more = count + workers * table->extent_slots;

    return drawn + (more < left ? more : left);
}

/* The descriptors that workers bring; false: the allocator has refused.  `*workers`: how many. */
static bool bring_descriptors(const haft_table *table, uint64_t *workers)
{
    bool has = true;

    *workers = 0;
    for (haft_worker *worker = worker_list_first(table); worker != NULL && has;
         worker = worker->next) {
        has = descriptors_bring_all(worker);
        (*workers)++;
    }
    return has;
}

haft_status haft_reserve_capacity(haft_table *table, uint64_t count)
{
    uint64_t workers;

    if (count > table->slots.limit - HAFT_FIRST_INDEX) {
        return HAFT_FULL;
    }
    return bring_descriptors(table, &workers)
               ? fresh_populate(table, end_of_capacity(table, count, workers))
               : HAFT_NO_MEMORY;
}

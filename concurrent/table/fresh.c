/*
 * Fresh slots: never used, or not since their memory was released; handed out in extents.
 *
 * A worker draws an extent from the table and takes its batches from there, so that the slots of
 * one thread lie together (tuning.h).  Extents are not private: any worker may steal from them.
 *
 * Only the owner fills an extent, when it is empty and so no other compare-and-swap can succeed.
 *
 * Edges in this file.
 *   EXTENT  fresh_give (release) -> take_from_extent, fresh_at_hand (acquire)
 *           the bump above a slot before its use, and before the slot counts as fresh
 *   ONWARD  slots leave an extent before they are used, and none with an object comes into one
 *   RETRY   a first look; the compare-and-swap decides.  The memory needs no order: no thread has
 *           touched it
 */
#include "concurrent/table/fresh.h"
#include "concurrent/batches/pool.h"
#include "concurrent/table/released.h"
#include "concurrent/table/roster.h"
#include <assert.h>

/*
 * An extent in one word: the first slot in the upper half, how many in the lower, and a flag: they
 * have been used before.
 */
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

uint64_t fresh_at_hand(const haft_worker *worker, bool again)
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

haft_status fresh_populate(haft_table *table, uint64_t end)
{
    haft_status status = commit(table, end);

    if (status == HAFT_OK) {
        status = slots_populate(&table->slots, 0, end);
    }
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

    for (haft_worker *other = roster_first(worker->table); other != NULL && taken == 0;
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

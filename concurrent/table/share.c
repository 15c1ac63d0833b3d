/*
 * Handing a local table's slots to a shared one.  (Back: unshare.c.)
 *
 * The shared table takes the slots as they are.  Slots that the local table did not use stay where
 * they were until workers take them: in a list of free slots through their words (lists.c), and in
 * a list of fresh runs (released.c).
 *
 * The first worker, one that no thread has opened, has the local table's past in its statistics.
 *
 * Edges in this file.
 *   OWN     one thread has both tables
 */
#include "concurrent/batches/pool.h"
#include "concurrent/batches/tagged.h"
#include "lib/slots/object.h"
#include <haft/share.h>

#include "concurrent/clock/callback.h"
#include "concurrent/table/open.h"
#include "concurrent/worker/fresh.h"
#include "concurrent/worker/life.h"
#include "concurrent/worker/released.h"
#include "concurrent/worker/worker_list.h"
#include "lib/local/local.h"
#include "lib/local/local_list.h"

static haft_status check_moment(const haft_local *local)
{
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    const haft_status status = local_check_moment(local);

    return status == HAFT_OK && load_relaxed(OWN, &local->attached) != 0 ? HAFT_IN_USE : status;
}

/* The local table's destructor, as on_reclaim. */
static void call_destroy(void *object, haft_id id, haft_worker *worker, void *arg)
{
    const haft_local *local = arg;

    (void)worker;
    local->on_destroy(object, id, local->destroy_arg);
}

static void choose_reclaim(haft_table *table, haft_local *local, const haft_share_options *options)
{
    if (options->on_reclaim != NULL) {
        table->on_reclaim = options->on_reclaim;
        table->reclaim_arg = options->reclaim_arg;
    } else if (local->on_destroy != NULL) {
        table->on_reclaim = call_destroy;
        table->reclaim_arg = local;
    }
}

/* Index limit with room for slots that workers hold back, as far as the reservation goes. */
static uint64_t shared_limit(const haft_local *local)
{
    const uint64_t wished = HAFT_FIRST_INDEX + local->capacity + geometry_spare(local->capacity);
    const uint64_t most = local->slots.view.mask + 1;
    const uint64_t limit = wished < most ? wished : most;

    return limit > local->slots.limit ? limit : local->slots.limit;
}

/* The first worker, closed, that counts all that the local table has done. */
static haft_status add_first_worker(haft_table *table, const haft_local *local)
{
    haft_worker *first = worker_list_add(table, WORKER_CLOSED);

    if (first == NULL) {
        return HAFT_NO_MEMORY;
    }
    store_relaxed(OWN, &first->counters.reserved, local->front.count);
    store_relaxed(OWN, &first->counters.published, local->front.count);
    store_relaxed(OWN, &first->counters.exhausted, local->exhausted);
    released_apply_floor(table, local->fresh_at, local->fresh_end - local->fresh_at);
    fresh_give(first, local->fresh_at, local->fresh_end - local->fresh_at, true);
    return HAFT_OK;
}

/* The local table's fresh runs, through the same links; the one in use is the first worker's. */
static void take_runs(haft_table *table, const haft_local *local)
{
    const uint64_t slots = local->fresh_slots - (local->fresh_end - local->fresh_at);

    store_relaxed(OWN, &table->released.head, tagged_number(local->slots.runs.first));
    store_relaxed(OWN, &table->released.slots, slots);
}

static haft_status take_over(haft_table *table, haft_domain *domain, haft_local *local)
{
    table->slots = local->slots;
    table->slots.limit = shared_limit(local);
    table->slots.wrapped = local->wraps;
    table->capacity = local->capacity;
    table->inherited.local = local;
    haft_status status = runs_reserve(&table->slots.runs);

    status = status == HAFT_OK ? table_start(table, domain) : status;
    if (status != HAFT_OK) {
        return status;
    }
    status = pool_commit(&table->pool, local->used / table->batch_max + DEPOT_NODES);
    status = status == HAFT_OK ? add_first_worker(table, local) : status;
    if (status != HAFT_OK) {
        table_stop(table);
        return status;
    }
    store_relaxed(OWN, &table->fresh, local->used);
    store_relaxed(OWN, &table->inherited.listed, *local_head(local));
    take_runs(table, local);
    return HAFT_OK;
}

haft_status haft_share_sized(haft_local *local, haft_domain *domain,
                             const haft_share_options *options, size_t size, haft_table **table)
{
    haft_share_options known;
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? check_moment(local) : status;
    if (status == HAFT_OK) {
        status = table_check_waiting(known.waiting_bytes, local->slots.view.stride);
    }
    if (status != HAFT_OK) {
        return status;
    }
    haft_table *opened = table_new(local->name, &local->slots.heap);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    choose_reclaim(opened, local, &known);
    opened->waiting_bytes = known.waiting_bytes;
    opened->never_waits = known.never_wait;
    status = take_over(opened, domain, local);
    if (status != HAFT_OK) {
        if (local->slots.runs.records == NULL) {
            runs_close(&opened->slots.runs);
        }
        table_free(opened);
        return status;
    }
    *table = opened;
    return HAFT_OK;
}

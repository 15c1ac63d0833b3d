/*
 * One thread at a time goes through a table's slots.
 *
 * Edges in this file.
 *   RETRY   whether a thread does: decided by the compare-and-swap; the slots travel in batches
 */
#include "concurrent/extra/collect.h"
#include "concurrent/clock/callback.h"
#include "concurrent/table/borrow.h"
#include "concurrent/table/reclaim.h"
#include "concurrent/table/shelf.h"
#include "concurrent/table/supply.h"
#include <stddef.h>

/* Take back what is due.  No more batches than there can be: other threads may go on. */
static void take_back_due(haft_worker *worker)
{
    const haft_table *table = worker->table;
    const uint64_t most = table->slots.limit - HAFT_FIRST_INDEX;
    struct batch *batch;

    supply_gather(worker);
    for (uint64_t i = 0; i < most; i++) {
        batch = shelf_take_due(worker);
        if (batch == NULL) {
            batch = shelf_steal_due(worker);
        }
        if (batch == NULL) {
            return;
        }
        reclaim_batch(worker, batch);
    }
}

haft_status collect_begin(haft_table *table, haft_worker **worker)
{
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    if (!cas_relaxed(RETRY, &table->collecting, 0, 1)) {
        return HAFT_BUSY;
    }
    *worker = worker_borrow(table);
    if (*worker == NULL) {
        store_relaxed(RETRY, &table->collecting, 0);
        return HAFT_NO_MEMORY;
    }
    take_back_due(*worker);
    return HAFT_OK;
}

void collect_end(haft_worker *worker)
{
    haft_table *table = worker->table;

    store_relaxed(RETRY, &table->collecting, 0);
    worker_return(worker);
}

/*
 * One thread at a time goes through a table's slots.
 *
 * Edges in this file.
 *   RETRY   whether a thread does: decided by the compare-and-swap; the slots travel in batches
 */
#include "concurrent/extra/collect.h"
#include "concurrent/clock/callback.h"
#include "concurrent/table/borrow.h"
#include "concurrent/table/gather.h"
#include "concurrent/table/roster.h"
#include <stddef.h>

haft_status collect_begin(haft_table *table, haft_worker **worker)
{
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    if (domain_check_process(table->domain) != HAFT_OK) {
        return HAFT_FORKED; /* a thread that is gone may go through them for ever */
    }
    if (!cas_relaxed(RETRY, &table->collecting, 0, 1)) {
        return HAFT_BUSY;
    }
    *worker = worker_borrow(table);
    if (*worker == NULL) {
        store_relaxed(RETRY, &table->collecting, 0);
        return roster_why_none(table);
    }
    gather_all_due(*worker);
    return HAFT_OK;
}

void collect_end(haft_worker *worker)
{
    haft_table *table = worker->table;

    store_relaxed(RETRY, &table->collecting, 0);
    worker_return(worker);
}

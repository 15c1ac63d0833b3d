/*
 * haft_table_reclaim: all slots handed over before the call, wherever they wait.
 *
 * Edges in this file.
 *   OWN    a count that only this thread's workers write
 */
#include "concurrent/clock/callback.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/clock/thread.h"
#include "concurrent/worker/exchange.h"
#include "concurrent/worker/handed.h"
#include "concurrent/worker/retire.h"
#include "concurrent/worker/sweep.h"
#include "concurrent/worker/worker.h"
#include "concurrent/worker/worker_list.h"
#include <stddef.h>

/* The calling thread's open worker, unless it moves between threads; NULL: none. */
static haft_worker *own_worker(const haft_table *table)
{
    haft_worker *worker = worker_list_first(table);

    while (worker != NULL && !(worker_is_open_by(worker, thread_number()) && !worker->is_movable)) {
        worker = worker->next;
    }
    return worker;
}

/* Objects that the calling thread has freed: within haft_table_reclaim(), its callbacks. */
static uint64_t freed_by_thread(const haft_table *table)
{
    uint64_t freed = callback_frees();

    for (const haft_worker *worker = worker_list_first(table); worker != NULL;
         worker = worker->next) {
        freed += worker_is_own(worker) ? load_relaxed(OWN, &worker->counters.freed) : 0;
    }
    return freed;
}

/* The highest ticket handed over; where none is noted, of all that were taken. */
static uint64_t ticket_to_await(const haft_table *table)
{
    return table->reclaims_by_slot ? handed_ticket(table) : domain_requested(table->domain);
}

/* Reclaim all that was handed over before.  HAFT_BUSY: not all of it, or there is more by now. */
static haft_status reclaim_handed(haft_worker *worker)
{
    const haft_table *table = worker->table;
    const uint64_t moves = transit_moves(table);
    const uint64_t freed = freed_by_thread(table);
    struct batch *batch;

    retire_hand_over(worker);
    drain_all_lists(worker);
    transit_wait(table); /* for slots that others have taken out of the lists */
    const haft_status status = domain_wait_for(table->domain, ticket_to_await(table));
    const uint64_t done = domain_done(table->domain);
    const bool has_begun = transit_begin(worker);

    while ((batch = exchange_find_elapsed(worker, done)) != NULL) {
        reclaim_batch(worker, batch);
    }
    transit_end(worker, has_begun);
    transit_wait(table);
    return transit_moves(table) != moves || freed_by_thread(table) != freed ? HAFT_BUSY : status;
}

static haft_status reclaim_by(haft_worker *worker)
{
    retire_flush(worker);
    const haft_status status = reclaim_handed(worker);

    retire_flush(worker);
    retire_hand_over(worker);
    return status;
}

static haft_status reclaim_by_borrowed(haft_table *table)
{
    haft_worker *worker = worker_borrow(table);

    if (worker == NULL) {
        return worker_list_why_none(table);
    }
    const haft_status status = reclaim_by(worker);

    worker_return(worker);
    return status;
}

haft_status haft_table_reclaim(haft_table *table)
{
    haft_status status = domain_check_moment(table->domain);

    status = status == HAFT_OK ? domain_check_process(table->domain) : status;
    if (status != HAFT_OK) {
        return status;
    }
    haft_worker *own = own_worker(table);

    return own != NULL ? reclaim_by(own) : reclaim_by_borrowed(table);
}

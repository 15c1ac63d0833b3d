/*
 * Sweeping a table: reclaiming what is due from any ring or depot.
 *
 * Edges in this file.
 *   HINT   whether anything was handed over: a look that comes too early is made again
 *   OWN    a count that only this thread's workers write
 */
#include "concurrent/table/sweep.h"
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/thread.h"
#include "concurrent/clock/tickets.h"
#include "concurrent/table/borrow.h"
#include "concurrent/table/gather.h"
#include "concurrent/table/handed.h"
#include "concurrent/table/lists.h"
#include "concurrent/table/retire.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/shelf.h"
#include <stddef.h>

/* --- at quiescent points --- */

/* Reclaim some slots that are due.  True: no others are. */
static bool reclaim_some(haft_worker *worker, uint64_t done)
{
    const bool own_alone = worker->table->never_waits;
    uint64_t taken = 0;

    while (taken < RECLAIMED_SLOTS) {
        struct batch *batch =
            own_alone ? shelf_take_due(worker, done) : shelf_find_due(worker, done);

        if (batch == NULL) {
            return !own_alone;
        }
        taken += batch->count;
        reclaim_batch(worker, batch);
    }
    return false;
}

/* No batch is due, and the highest ticket handed over is done. */
static void clear_handed(haft_worker *worker, uint64_t handed, uint64_t done)
{
    if (!handed_clear(worker->table, handed)) {
        return;
    }
    struct batch *batch = shelf_find_due(worker, done);

    if (batch != NULL) {
        handed_raise(worker->table, handed); /* there may be more */
        reclaim_batch(worker, batch);
    }
}

void sweep_handed(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t handed = load_relaxed(HINT, &table->handed);
    const uint64_t done = handed != 0 ? domain_done(table->domain) : 0;

    /* A batch pushed since under a ticket that was done is found when the word's is done. */
    if (handed == 0 || (done < handed && done == worker->swept)) {
        return;
    }
    const bool has_begun = transit_begin(worker);

    if (reclaim_some(worker, done)) {
        worker->swept = done;
        if (done >= handed) {
            clear_handed(worker, handed, done);
        }
    }
    transit_end(worker, has_begun);
}

/* --- haft_table_reclaim --- */

/* The calling thread's open worker, unless it moves between threads; NULL: none. */
static haft_worker *own_worker(const haft_table *table)
{
    haft_worker *worker = roster_first(table);

    while (worker != NULL && !(worker_is_open_by(worker, thread_number()) && !worker->is_movable)) {
        worker = worker->next;
    }
    return worker;
}

/* Objects that the calling thread has freed: within haft_table_reclaim(), its callbacks. */
static uint64_t freed_by_thread(const haft_table *table)
{
    uint64_t freed = callback_frees();

    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        freed += worker_is_own(worker) ? load_relaxed(OWN, &worker->counters.freed) : 0;
    }
    return freed;
}

/* The highest ticket handed over; where none is noted, of all that were taken. */
static uint64_t ticket_to_await(const haft_table *table)
{
    return table->sifts ? handed_ticket(table) : domain_requested(table->domain);
}

/* Reclaim all that was handed over before.  HAFT_BUSY: not all of it, or there is more by now. */
static haft_status reclaim_handed(haft_worker *worker)
{
    const haft_table *table = worker->table;
    const uint64_t moves = transit_moves(table);
    const uint64_t freed = freed_by_thread(table);
    struct batch *batch;

    retire_hand_over(worker);
    gather_all_lists(worker);
    transit_wait(table); /* for slots that others have taken out of the lists */
    const haft_status status = domain_wait_for(table->domain, ticket_to_await(table));
    const uint64_t done = domain_done(table->domain);
    const bool has_begun = transit_begin(worker);

    while ((batch = shelf_find_due(worker, done)) != NULL) {
        reclaim_batch(worker, batch);
    }
    transit_end(worker, has_begun);
    transit_wait(table);
    return transit_moves(table) != moves || freed_by_thread(table) != freed ? HAFT_BUSY : status;
}

static haft_status reclaim_by(haft_worker *worker)
{
    retire_hand_on(worker);
    const haft_status status = reclaim_handed(worker);

    retire_hand_on(worker);
    retire_hand_over(worker);
    return status;
}

static haft_status reclaim_by_borrowed(haft_table *table)
{
    haft_worker *worker = worker_borrow(table);

    if (worker == NULL) {
        return roster_why_none(table);
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

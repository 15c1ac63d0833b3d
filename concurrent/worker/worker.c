/*
 * Workers: opening, closing, and the duties between jobs; and borrowing one for a call.
 *
 * Edges in this file.
 *   HINT    allocation failure: answered now or at the next quiescent point; whether slots were
 *           handed over
 *   OWN     counts that this worker alone writes
 */
#include "concurrent/worker/worker.h"
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/clock/jobs_and_parks.h"
#include "concurrent/clock/stall.h"
#include "concurrent/worker/budget.h"
#include "concurrent/worker/descriptors.h"
#include "concurrent/worker/lists.h"
#include "concurrent/worker/retire.h"
#include "concurrent/worker/sweep.h"
#include "concurrent/worker/worker_batches.h"
#include "concurrent/worker/worker_list.h"
#include <assert.h>

haft_status haft_worker_open(haft_table *table, haft_worker **worker)
{
    haft_domain *domain = table->domain;
    haft_worker *opened = worker_list_take(table, WORKER_OPEN);

    if (opened == NULL) {
        return worker_list_why_none(table);
    }
    if (domain_join(domain, opened, &opened->member, &opened->lift) != HAFT_OK) {
        worker_list_put_back(opened);
        return HAFT_NO_MEMORY;
    }
    opened->callback = callback_number();
    opened->failures_before = load_relaxed(HINT, &table->failures);
    opened->is_to_draw = true;
    descriptors_keep_up(opened);
    *worker = opened;
    return HAFT_OK;
}

/* The duties between jobs: reclaim elapsed slots that were handed over, and drain the lists. */
static void do_duties(haft_worker *worker)
{
    if (callback_is_running()) {
        return;
    }
    sweep_handed(worker);
    if (lists_have_slots(worker->table)) {
        drain_lists(worker);
    }
}

/* Give all of the worker's slots to other workers, and those that callbacks free meanwhile. */
static void let_go(haft_worker *worker)
{
    if (open_batch_count(worker) != 0) {
        retire_open(worker); /* before duties: callbacks may free, and find its slots */
    }
    do_duties(worker);
    if (open_batch_count(worker) != 0 || filling_count(worker) != 0) {
        retire_flush(worker);
    }
    retire_hand_over(worker);
    domain_hurry(worker->table->domain);
}

haft_status haft_worker_flush(haft_worker *worker)
{
    debug_check(worker);
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    let_go(worker);
    return HAFT_OK;
}

haft_status haft_worker_close(haft_worker *worker)
{
    assert(worker_state(worker) == WORKER_OPEN && "a worker is closed once");
    if (callback_number() != 0 && worker->callback != callback_number()) {
        return HAFT_IN_CALLBACK;
    }
    if (!worker_is_own(worker)) { /* by a thread that has joined its own, or has the set now */
        worker->lift = 0;
        worker_change_thread(worker);
    }
    let_go(worker);
    budget_return(worker);
    domain_leave(worker->table->domain, worker, worker->member, worker->lift);
    worker_list_put_back(worker);
    return HAFT_OK;
}

haft_table *haft_worker_table(const haft_worker *worker)
{
    return worker->table;
}

/* --- for one call --- */

haft_worker *worker_borrow(haft_table *table)
{
    return worker_list_take(table, WORKER_BORROWED);
}

void worker_return(haft_worker *worker)
{
    retire_flush(worker);
    retire_hand_over(worker);
    worker_list_put_back(worker);
}

/* --- quiescent points --- */

/*
 * If partial batches filled the ring, they would be put together, and their slots would wait for
 * the latest ticket among them: longer than the backlog says.
 */
static bool is_worth_closing(const haft_worker *worker)
{
    return open_batch_count(worker) >= WORTH_CLOSING &&
           ring_length(&worker->waiting) < PARTIAL_BATCHES(descriptors_waiting(worker));
}

/* Whether the worker has freed and given up nothing since it was asked before. */
static bool was_idle(haft_worker *worker)
{
    const uint64_t ended =
        load_relaxed(OWN, &worker->counters.freed) + load_relaxed(OWN, &worker->counters.aborted);
    const bool idle = ended == worker->ended_seen;

    worker->ended_seen = ended;
    return idle;
}

/* Close the open batch if that is worth a ticket.  True after an allocation failure since the
 * opening. */
static bool close_if_worth(haft_worker *worker, bool idle)
{
    const uint64_t failures = load_relaxed(HINT, &worker->table->failures);
    const bool has_failed = failures != worker->failures_seen;

    if (idle || has_failed || is_worth_closing(worker)) {
        retire_open(worker);
    }
    worker->failures_seen = failures;
    return has_failed && failures != worker->failures_before;
}

/* Forget the closings that are done; the slots that wait still. */
static uint64_t waiting(struct backlog *backlog, uint64_t done)
{
    while (backlog->first != backlog->next) {
        const struct closing *oldest = &backlog->closings[backlog->first % CLOSINGS];

        if (oldest->ticket > done) {
            break;
        }
        backlog->done = oldest->retired;
        backlog->first++;
    }
    return backlog->retired - backlog->done;
}

/* Too many slots wait, or there was an allocation failure. */
static void pay(const haft_table *table, uint64_t backlog)
{
    haft_domain *domain = table->domain;

    if (table->never_waits) {
        domain_hurry(domain);
    } else if (backlog > BACKLOG_MOST(table->backlog_slots) || !domain_is_driven(domain)) {
        domain_wait(domain);
    }
}

static void pass_quiescent_point(haft_worker *worker)
{
    const haft_table *table = worker->table;
    haft_domain *domain = table->domain;

    descriptors_keep_up(worker);
    const bool has_failed = close_if_worth(worker, was_idle(worker));

    retire_hand_over(worker);
    const uint64_t done = domain_done(domain);
    const bool eager = has_failed || load_relaxed(HINT, &table->handed) > done ||
                       waiting(&worker->backlog, done) >= table->backlog_worth;

    domain_quiescent(domain, worker->member, eager);
    const uint64_t backlog = waiting(&worker->backlog, domain_done(domain));

    if (eager) {
        domain_notice_stall(domain);
    }
    if (backlog > table->backlog_slots || has_failed) {
        pay(table, backlog);
    }
    do_duties(worker);
}

/* An outer job of the thread may hold pointers: retire, but announce and await nothing. */
static void pass_in_inner_job(haft_worker *worker)
{
    descriptors_keep_up(worker);
    close_if_worth(worker, was_idle(worker));
    retire_hand_over(worker);
    domain_hurry(worker->table->domain);
}

haft_status haft_worker_quiescent(haft_worker *worker)
{
    haft_domain *domain = worker->table->domain;
    debug_check(worker);
    haft_status status = domain_check_moment(domain);

    if (status == HAFT_OK) {
        pass_quiescent_point(worker);
    } else if (status == HAFT_IN_SECTION && domain_in_inner_job(domain)) {
        pass_in_inner_job(worker);
        status = HAFT_OK;
    }
    return status;
}

/*
 * Draining a table: each pass takes back all freed slots, until a pass finds none.  A callback may
 * free and unpin meanwhile.
 *
 * Edges in this file.
 *   HINT    whether anything is attached: a thread that was told of it sees it
 *   OWN     no other thread uses the table; the batch is this worker's
 */
#include "concurrent/extra/drain.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/tickets.h"
#include "concurrent/extra/implicit.h"
#include "concurrent/table/borrow.h"
#include "concurrent/table/census.h"
#include "concurrent/table/gather.h"
#include "concurrent/table/lists.h"
#include "concurrent/table/reclaim.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/shelf.h"
#include <assert.h>
#include <haft/diagnose.h>

bool table_has_attached(const haft_table *table)
{
    return load_relaxed(HINT, &table->attached) != 0;
}

static bool has_pins(const haft_table *table)
{
    const struct slots *slots = &table->slots;
    const uint64_t end = load_relaxed(OWN, &table->fresh);

    for (uint64_t index = HAFT_FIRST_INDEX; slots->has_pins && index < end; index++) {
        const atomic_u64 *pins = slots_pins(slots, slots_word(slots, index));

        if ((load_relaxed(OWN, pins) & PIN_COUNT) != 0) {
            return true;
        }
    }
    return false;
}

/*
 * Until no reader has an object that lives, or is in the list of freed ones: these have no ticket.
 * Objects that were aborted, or taken back up to a pin, have no readers.
 */
static void wait_for_readers(haft_table *table)
{
    if (haft_table_stats_get(table).live != 0 || !list_is_empty(table, LIST_FREED)) {
        domain_wait_for(table->domain, domain_ticket(table->domain));
    }
}

/*
 * Take back all slots that wait, and wait for their tickets, except for those that callbacks take
 * meanwhile: no other thread uses the table, and no thread has resolved since the pass began.  The
 * tickets of other tables hold nothing up here.  True if there was anything.
 */
static bool take_all_back(haft_worker *worker)
{
    haft_domain *domain = worker->table->domain;
    const uint64_t requested = domain_requested(domain);
    struct batch *batch;

    bool found = gather_all_lists(worker);

    while ((batch = shelf_take_waiting(worker)) != NULL) {
        const uint64_t ticket = load_relaxed(OWN, &batch->ticket);

        domain_wait_for(domain, ticket < requested ? ticket : requested);
        reclaim_batch(worker, batch);
        found = true;
    }
    return found;
}

/* Callbacks may free and unpin meanwhile, so a pass that found something is not the last one. */
static void run_passes(haft_table *table, haft_worker *worker)
{
    do {
        implicit_flush(table);
        wait_for_readers(table);
    } while (take_all_back(worker) && table->on_reclaim != NULL);
}

/* A borrowed worker is a new one if no worker is closed. */
static haft_status run_passes_by_borrowed(haft_table *table)
{
    haft_worker *worker = worker_borrow(table);

    if (worker == NULL) {
        return HAFT_NO_MEMORY;
    }
    run_passes(table, worker);
    worker_return(worker);
    return HAFT_OK;
}

/*
 * By the thread's implicit worker if it has one: borrowing may need memory, and a program that is
 * out of memory closes its tables.  A table without workers never had an object.
 */
static haft_status take_table_back(haft_table *table)
{
    haft_worker *own = implicit_own(table);

    if (own != NULL) {
        run_passes(table, own);
        return HAFT_OK;
    }
    return roster_first(table) != NULL ? run_passes_by_borrowed(table) : HAFT_OK;
}

static haft_status try_to_drain(haft_table *table)
{
    haft_status status = domain_check_moment(table->domain);

    status = status == HAFT_OK ? take_table_back(table) : status;
    return status == HAFT_OK && (has_pins(table) || table_has_attached(table)) ? HAFT_IN_USE
                                                                               : status;
}

/* Callbacks may have opened workers. */
static haft_status try_to_close(haft_table *table)
{
    const haft_status status = implicit_others(table) == 0 ? try_to_drain(table) : HAFT_IN_USE;

    return status == HAFT_OK ? implicit_close(table) : status;
}

haft_status drain_table(haft_table *table)
{
    haft_status status =
        callback_is_running() ? HAFT_IN_CALLBACK : domain_check_process(table->domain);

    if (status != HAFT_OK) {
        return status;
    }
    status = try_to_close(table);
    if (status != HAFT_OK) {
        return status;
    }
    assert(census_is_right(table));
    assert(haft_table_stats_get(table).retired == 0);
    return HAFT_OK;
}

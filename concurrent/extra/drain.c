/*
 * Draining a table: each pass reclaims all freed slots, until a pass finds none.  A callback may
 * free and unpin meanwhile.
 *
 * Edges in this file.
 *   HINT    whether anything is attached: a thread that was told of it sees it
 *   OWN     the batch is this worker's; no other thread uses the table
 */
#include "concurrent/extra/drain.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/tickets.h"
#include "concurrent/table/borrow.h"
#include "concurrent/table/census.h"
#include "concurrent/table/gather.h"
#include "concurrent/table/lists.h"
#include "concurrent/table/reclaim.h"
#include "concurrent/table/retire.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/shelf.h"
#include <assert.h>
#include <haft/diagnose.h>

bool table_has_attached(const haft_table *table)
{
    return load_relaxed(HINT, &table->attached) != 0;
}

haft_status drain_check_moment(const haft_table *table)
{
    const haft_status status =
        callback_is_running() ? HAFT_IN_CALLBACK : domain_check_process(table->domain);

    return status == HAFT_OK ? domain_check_moment(table->domain) : status;
}

haft_status drain_check_ending(const haft_table *table)
{
    const haft_status status = drain_check_moment(table);

    /* Where both are so, a worker that is open is what to tell of. */
    return (status == HAFT_OK || status == HAFT_IN_SECTION) && roster_open(table) != 0 ? HAFT_IN_USE
                                                                                       : status;
}

/* True if there was anything. */
static bool reclaim_waiting(haft_worker *worker, uint64_t latest)
{
    struct batch *batch;

    bool found = gather_all_lists(worker);

    while ((batch = shelf_take_waiting(worker)) != NULL) {
        const uint64_t ticket = load_relaxed(OWN, &batch->ticket);

        domain_wait_for(worker->table->domain, ticket < latest ? ticket : latest);
        reclaim_batch(worker, batch);
        found = true;
    }
    return found;
}

void drain_waiting(haft_worker *worker, uint64_t latest)
{
    do {
        retire_open(worker); /* what callbacks have freed by it */
    } while (reclaim_waiting(worker, latest));
}

/*
 * Until no reader has an object that lives, or is in the list of freed ones: these have no ticket.
 * Objects that were aborted, or reclaimed up to a pin, have no readers.
 */
static void wait_for_readers(haft_table *table)
{
    if (haft_table_stats_get(table).live != 0 || !list_is_empty(table, LIST_FREED)) {
        domain_wait_for(table->domain, domain_ticket(table->domain));
    }
}

/*
 * Callbacks may free and unpin meanwhile, so a pass that found something is not the last one.  What
 * they free in a pass needs no wait: no other thread uses the table, and none has resolved since
 * the pass began.  The tickets of other tables hold nothing up here.
 */
static void run_passes(haft_worker *worker)
{
    haft_table *table = worker->table;

    do {
        retire_hand_on(worker);
        wait_for_readers(table);
    } while (reclaim_waiting(worker, domain_requested(table->domain)) && table->on_reclaim != NULL);
}

/* By a closed worker: all are.  A table without workers never had an object. */
static void reclaim_table(haft_table *table)
{
    if (roster_first(table) != NULL) {
        haft_worker *worker = worker_borrow(table);

        assert(worker != NULL && "one of its workers is closed");
        run_passes(worker);
        worker_return(worker);
    }
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

/* Callbacks may have opened workers. */
static haft_status try_to_drain(haft_table *table)
{
    reclaim_table(table);
    return has_pins(table) || table_has_attached(table) || roster_open(table) != 0 ? HAFT_IN_USE
                                                                                   : HAFT_OK;
}

haft_status drain_table(haft_table *table)
{
    haft_status status = drain_check_ending(table);

    if (status != HAFT_OK) {
        return status;
    }
    status = try_to_drain(table);
    assert(status != HAFT_OK || census_is_right(table));
    assert(status != HAFT_OK || haft_table_stats_get(table).retired == 0);
    return status;
}

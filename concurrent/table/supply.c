/*
 * The search for a slot, in rounds: from supplier to supplier (suppliers.c), until one finds slots.
 *
 * No callback runs within a round.  A supplier that finds a batch with callbacks to run takes it
 * out, which ends the round: the search has the batch taken back, and begins anew.
 *
 * Edges in this file.
 *   HINT   shortage: other workers hand on their slots sooner or later
 */
#include "concurrent/table/supply.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/stall.h"
#include "concurrent/table/budget.h"
#include "concurrent/table/hand.h"
#include "concurrent/table/handed.h"
#include "concurrent/table/retire.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/stats.h"
#include "concurrent/table/suppliers.h"

/* No slot: ask other workers and the clock to release theirs.  HAFT_BUSY, or `fresh`. */
static haft_status shortage(haft_worker *worker, haft_status fresh)
{
    haft_table *table = worker->table;

    retire_open(worker);
    fetch_add_relaxed(HINT, &table->shortage, 1);
    domain_hurry(table->domain);
    domain_notice_stall(table->domain);
    return stats_shortage(table, worker, fresh);
}

/* One supplier after the other, until one has found something. */
static bool ask_suppliers(haft_worker *worker, struct search *search)
{
    supplier *const *next = worker->table->suppliers.in_order;

    search->due = NULL;
    search->status = HAFT_OK;
    while (*next != NULL && !(*next)(worker, search)) {
        next++;
    }
    return *next != NULL;
}

/*
 * One round.  HAFT_OK: the filling batch has slots; or a batch was taken back, and it is time for
 * another round.
 */
static haft_status search_round(haft_worker *worker, struct search *search)
{
    const bool has_begun = transit_begin(worker);
    const bool found = ask_suppliers(worker, search);

    if (search->due != NULL) {
        worker->table->suppliers.take_back(worker, search);
    }
    transit_end(worker, has_begun);
    return found ? HAFT_OK : shortage(worker, search->status);
}

/* Until the filling batch has slots: HAFT_OK, or why it has none. */
static haft_status search_slots(haft_worker *worker)
{
    struct search search;
    haft_status status = roster_has_ended(worker->table) ? HAFT_CLOSED : HAFT_OK;

    search.has_begun = false;
    search.unpinned = 0;
    budget_draw(worker);
    while (status == HAFT_OK && hand_filling_count(worker) == 0) {
        status = search_round(worker, &search);
    }
    return status;
}

haft_status supply_find(haft_worker *worker, uint64_t most, uint32_t *count)
{
    const haft_status status = hand_filling_count(worker) == 0 ? search_slots(worker) : HAFT_OK;

    if (status == HAFT_OK) {
        const uint32_t found = hand_filling_count(worker);

        *count = most < found ? (uint32_t)most : found;
    }
    return status;
}

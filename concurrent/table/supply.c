/*
 * The search for a slot, in rounds: through the door of an exact table, then from supplier to
 * supplier (suppliers.c), until one finds slots.  Slots at hand need no search: they pass the door
 * alone.
 *
 * No callback runs within a round.  A supplier that finds a batch with callbacks to run takes it
 * out, which ends the round: the search leaves the door, has the batch taken back, and begins anew.
 */
#include "concurrent/table/supply.h"
#include "concurrent/table/door.h"
#include "concurrent/table/hand.h"
#include "concurrent/table/suppliers.h"

haft_status supply_shortage(haft_worker *worker, haft_status fresh)
{
    return worker->table->suppliers.shortage(worker, fresh);
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
 * One round, with up to `most` units of an exact table.  HAFT_OK: the filling batch has slots, and
 * `*units` search still; or a batch was taken back, and it is time for another round.
 */
static haft_status search_round(haft_worker *worker, struct search *search, uint64_t most,
                                uint64_t *units)
{
    haft_table *table = worker->table;

    if (table->is_exact) {
        const haft_status status = door_enter(table, most, units);

        if (status != HAFT_OK) {
            return status == HAFT_FULL ? status : supply_shortage(worker, status);
        }
    }
    const bool found = ask_suppliers(worker, search);

    if (found && search->due == NULL) {
        return HAFT_OK;
    }
    if (table->is_exact) {
        door_settle(table, *units, 0);
        *units = 0;
    }
    if (!found) {
        return supply_shortage(worker, search->status);
    }
    table->suppliers.take_back(worker, search);
    return HAFT_OK;
}

/* Until the filling batch has slots: HAFT_OK, or why it has none. */
static haft_status search_slots(haft_worker *worker, uint64_t most, uint64_t *units)
{
    struct search search;
    haft_status status = HAFT_OK;

    search.has_begun = false;
    search.unpinned = 0;
    while (status == HAFT_OK && hand_filling_count(worker) == 0) {
        status = search_round(worker, &search, most, units);
    }
    return status;
}

/* Count up to `*count` slots at hand at the door; `units` search already. */
static haft_status pass_door(haft_worker *worker, uint64_t units, uint64_t *count)
{
    haft_table *table = worker->table;

    if (units != 0) {
        *count = *count < units ? *count : units;
        door_settle(table, units, *count);
        return HAFT_OK;
    }
    const haft_status status = door_pass(table, *count, count);

    return status == HAFT_BUSY ? supply_shortage(worker, status) : status;
}

haft_status supply_find(haft_worker *worker, uint64_t most, struct supply *supply)
{
    uint64_t units = 0;
    haft_status status;

    const uint64_t batch = worker->table->batch_max; /* what a search finds at most */

    supply->is_new = hand_filling_count(worker) == 0;
    status = supply->is_new ? search_slots(worker, most < batch ? most : batch, &units) : HAFT_OK;
    if (status != HAFT_OK) {
        return status;
    }
    const uint32_t found = hand_filling_count(worker);
    uint64_t count = most < found ? most : found;

    if (worker->table->is_exact) {
        status = pass_door(worker, units, &count);
        if (status != HAFT_OK) {
            return status;
        }
    }
    supply->count = (uint32_t)count;
    return HAFT_OK;
}

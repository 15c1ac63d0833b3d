/*
 * The search for a slot: through the door of an exact table, then from supplier to supplier.
 *
 * Which suppliers a table has, and in which order they are asked, its options say (suppliers.c): a
 * search knows that each finds slots or finds none, and no more.
 *
 * A search runs no callback.  A supplier that has taken out what must be taken back first ends the
 * look: the search leaves the door, has that done, and starts over.
 */
#include "concurrent/table/supply.h"
#include "concurrent/table/door.h"
#include "concurrent/table/hand.h"
#include <stddef.h>

/* One supplier after the other, until one has found something. */
static bool ask_suppliers(haft_worker *worker, struct search *search)
{
    supplier *const *next = worker->table->suppliers.in_order;

    search->outside = NULL;
    search->status = HAFT_OK;
    while (*next != NULL && !(*next)(worker, search)) {
        next++;
    }
    return *next != NULL;
}

static haft_status shortage_of(haft_worker *worker, haft_status status)
{
    return worker->table->suppliers.shortage(worker, status);
}

/*
 * One look, with up to `most` units of an exact table.  HAFT_OK: the filling batch has slots, and
 * `*units` search still; or it is time to look again.
 */
static haft_status fill(haft_worker *worker, struct search *search, uint64_t most, uint64_t *units)
{
    haft_table *table = worker->table;

    if (table->is_exact) {
        const haft_status status = door_enter(table, most, units);

        if (status != HAFT_OK) {
            return status == HAFT_FULL ? status : shortage_of(worker, status);
        }
    }
    const bool found = ask_suppliers(worker, search);

    if (found && search->outside == NULL) {
        return HAFT_OK;
    }
    if (table->is_exact) {
        door_settle(table, *units, 0);
        *units = 0;
    }
    if (!found) {
        return shortage_of(worker, search->status);
    }
    search->outside(worker, search);
    return HAFT_OK;
}

/* Until the filling batch has slots: HAFT_OK, or why it has none. */
static haft_status search_slots(haft_worker *worker, uint64_t most, uint64_t *units)
{
    struct search search;
    haft_status status = HAFT_OK;

    search.has_begun = false;
    while (status == HAFT_OK && hand_filling_count(worker) == 0) {
        status = fill(worker, &search, most, units);
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

    return status == HAFT_BUSY ? shortage_of(worker, status) : status;
}

haft_status supply_find(haft_worker *worker, uint64_t most, struct supply *supply)
{
    uint64_t units = 0;
    haft_status status;

    supply->is_new = hand_filling_count(worker) == 0;
    status = supply->is_new ? search_slots(worker, most, &units) : HAFT_OK;
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

/*
 * The sides of a shared table.  Their list is under the registry's lock, as that of the tables: a
 * fork finds it whole.
 */
#include "concurrent/clock/registry.h"
#include "concurrent/worker/state.h"
#include "kit/local/sides/side.h"

static void leave_locked(haft_side *side)
{
    registry_lock();
    sides_remove(side);
    registry_unlock();
}

haft_status haft_side_open_sized(haft_table *table, const haft_side_options *options, size_t size,
                                 haft_side **side)
{
    const haft_status status =
        side_open(&table->slots, options, size, true, table->slots.wrapped, side);

    if (status == HAFT_OK) {
        (*side)->leave = leave_locked;
        registry_lock();
        sides_add(&table->attached, *side);
        registry_unlock();
    }
    return status;
}

/* Workers for one call. */
#include "concurrent/table/borrow.h"
#include "concurrent/clock/registry.h"
#include "concurrent/table/retire.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/tables.h"
#include <stddef.h>

haft_worker *worker_borrow(haft_table *table)
{
    return roster_take(table, WORKER_BORROWED);
}

haft_worker *worker_borrow_closed(uint64_t number)
{
    haft_worker *worker = NULL;

    if (!registry_try_lock()) {
        return NULL;
    }
    for (haft_table *table = first_open_table(); table != NULL; table = table->next_open) {
        if (table->number == number && !table->is_closing) {
            worker = roster_take_closed(table, WORKER_BORROWED);
        }
    }
    registry_unlock();
    return worker;
}

void worker_return(haft_worker *worker)
{
    retire_hand_on(worker);
    roster_leave(worker);
}

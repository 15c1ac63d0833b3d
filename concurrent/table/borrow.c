/* Workers for one call. */
#include "concurrent/table/borrow.h"
#include "concurrent/table/retire.h"
#include "concurrent/table/roster.h"

haft_worker *worker_borrow(haft_table *table)
{
    return roster_take(table, WORKER_BORROWED);
}

void worker_return(haft_worker *worker)
{
    retire_hand_on(worker);
    retire_hand_over(worker);
    roster_leave(worker);
}

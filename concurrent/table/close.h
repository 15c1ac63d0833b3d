/* concurrent/table/close.h - what closing, clearing and unsharing a table begin with. */
#ifndef HAFT_CONCURRENT_CLOSE_H
#define HAFT_CONCURRENT_CLOSE_H

#include "concurrent/worker/state.h"

/* The same for a table that is to end, in which no worker may be open: HAFT_IN_USE. */
haft_status close_check_ending(const haft_table *table);

/* Reclaim what waits, each batch after its grace period or once `latest` is done.  True if there
 * was anything.  Blocking; one thread. */
bool close_reclaim_waiting(haft_worker *worker, uint64_t latest);

/* Whether anything is attached, as far as the calling thread sees.  Wait-free. */
bool table_has_attached(const haft_table *table);

#endif /* HAFT_CONCURRENT_CLOSE_H */

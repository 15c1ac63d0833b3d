/*
 * concurrent/extra/drain.h - draining a table before it is closed or handed over.
 */
#ifndef HAFT_CONCURRENT_DRAIN_H
#define HAFT_CONCURRENT_DRAIN_H

#include "concurrent/table/state.h"

/*
 * Bring the table to the state in which it can be ended: no worker is open, no reader has a
 * pointer, all freed slots are taken back.  HAFT_OK; or why not, and it can be used as before.
 * Blocking; one thread, when no other thread uses the table.
 */
haft_status drain_table(haft_table *table);

/* Whether anything is attached, as far as the calling thread sees.  Wait-free. */
bool table_has_attached(const haft_table *table);

#endif /* HAFT_CONCURRENT_DRAIN_H */

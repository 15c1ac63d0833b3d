/*
 * concurrent/extra/close.h - the end of a table, as far as closing and handing over share it.
 */
#ifndef HAFT_CONCURRENT_CLOSE_H
#define HAFT_CONCURRENT_CLOSE_H

#include "concurrent/table/state.h"

/*
 * Bring the table to the state in which it can be ended: no worker is open, no reader has a
 * pointer, all that was freed is taken back.  HAFT_OK; or why not, and it can be used as before.
 * Blocking; one thread, when no other thread uses the table.
 */
haft_status close_begin(haft_table *table);

#endif /* HAFT_CONCURRENT_CLOSE_H */

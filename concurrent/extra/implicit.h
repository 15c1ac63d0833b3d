/*
 * concurrent/extra/implicit.h - the implicit workers of a table, as its closing sees them.
 */
#ifndef HAFT_CONCURRENT_IMPLICIT_H
#define HAFT_CONCURRENT_IMPLICIT_H

#include "concurrent/table/state.h"

/* The calling thread's implicit worker for this table; NULL: none.  Wait-free, O(implicit workers
 * of the thread). */
haft_worker *implicit_own(const haft_table *table);

/* How many open workers are not implicit ones that the calling thread may close.  Blocking: a lock,
 * as below. */
uint64_t implicit_others(const haft_table *table);

/* Hand on what these hold to all workers; they stay open.  When no other thread uses them. */
void implicit_flush(const haft_table *table);

/* They close with the table; HAFT_IN_USE: another worker is open, and nothing is done. */
haft_status implicit_close(const haft_table *table);

#endif /* HAFT_CONCURRENT_IMPLICIT_H */

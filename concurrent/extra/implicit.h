/*
 * concurrent/extra/implicit.h - the implicit workers of a table, as its closing sees them.
 */
#ifndef HAFT_CONCURRENT_IMPLICIT_H
#define HAFT_CONCURRENT_IMPLICIT_H

#include "concurrent/table/state.h"

/* Open ones that the calling thread may close.  Blocking: a lock. */
uint64_t implicit_count(const haft_table *table);

/* Hand on what these hold to all workers; they stay open.  When no other thread uses them. */
void implicit_flush(const haft_table *table);

/* Around a fork: the list of all is whole. */
void implicit_lock(void);
void implicit_unlock(void);

/* They close with the table, if they are still as many as `count` was.  False: nothing is done. */
bool implicit_close(const haft_table *table, uint64_t count);

#endif /* HAFT_CONCURRENT_IMPLICIT_H */

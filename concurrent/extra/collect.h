/*
 * concurrent/extra/collect.h - calls that go through a table's slots, one at a time: haft_trim().
 */
#ifndef HAFT_CONCURRENT_COLLECT_H
#define HAFT_CONCURRENT_COLLECT_H

#include "concurrent/table/state.h"

/*
 * Begin, with a worker for the time of the call, and take back due slots: HAFT_OK; HAFT_BUSY if
 * another thread has begun, HAFT_IN_CALLBACK, HAFT_NO_MEMORY.  Lock-free, except malloc.
 */
haft_status collect_begin(haft_table *table, haft_worker **worker);
void collect_end(haft_worker *worker);

#endif /* HAFT_CONCURRENT_COLLECT_H */

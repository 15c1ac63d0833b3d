/*
 * concurrent/worker/worker.h - a worker for one call of a thread that has none: a close, or trim.
 *
 * Its batch limit is 1, as that of each closed or new worker, so it holds nothing back.  It joins
 * no clock, since its thread resolves nothing through it: no call reads its member.  Any thread,
 * lock-free except malloc.
 */
#ifndef HAFT_CONCURRENT_WORKER_H
#define HAFT_CONCURRENT_WORKER_H

#include "concurrent/worker/state.h"

/* A closed worker, or a new one; NULL: no memory. */
haft_worker *worker_borrow(haft_table *table);

/* Return it, with no slots. */
void worker_return(haft_worker *worker);

#endif /* HAFT_CONCURRENT_WORKER_H */

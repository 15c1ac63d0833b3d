/*
 * concurrent/table/worker.h - a worker between its calls.
 */
#ifndef HAFT_CONCURRENT_WORKER_H
#define HAFT_CONCURRENT_WORKER_H

#include "concurrent/table/state.h"

/*
 * The duties of a worker between jobs: take back batches that are due, and collect slots in lists.
 * The worker's thread, outside locks; inside a callback nothing happens.
 */
void worker_do_duties(haft_worker *worker);

/* haft_worker_flush() without the duties, also for a worker of a thread that does not use it. */
void worker_flush(haft_worker *worker);

/* The end of haft_worker_close(), after worker_flush(). */
void worker_end(haft_worker *worker);

#endif /* HAFT_CONCURRENT_WORKER_H */

/*
 * concurrent/table/worker.h - a worker between its calls.
 */
#ifndef HAFT_CONCURRENT_WORKER_H
#define HAFT_CONCURRENT_WORKER_H

#include "concurrent/table/state.h"

/*
 * What a worker owes the table between jobs: batches that are due are taken back, and slots in
 * lists collected.  The worker's thread, outside locks; inside a callback nothing happens.
 */
void worker_do_duties(haft_worker *worker);

/* haft_worker_flush() without the duties, also for a worker of a thread that does not use it. */
void worker_flush(haft_worker *worker);

/* haft_worker_close() after that. */
void worker_end(haft_worker *worker);

#endif /* HAFT_CONCURRENT_WORKER_H */

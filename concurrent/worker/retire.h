/*
 * concurrent/worker/retire.h - the way out: free and abort, and the batches they fill.
 *
 * All functions: the worker's thread, lock-free; never allocate, never call back.
 */
#ifndef HAFT_CONCURRENT_RETIRE_H
#define HAFT_CONCURRENT_RETIRE_H

#include "concurrent/worker/life.h"
#include "concurrent/worker/worker_batches.h"

/* The batch, whose slots' lives have ended, takes its ticket and waits. */
void retire_batch(haft_worker *worker, struct batch *batch);

/* The open batch takes its ticket and waits, if there is anything in it. */
void retire_open(haft_worker *worker);

/* What the worker has retired is handed over, where it matters when a slot is reclaimed. */
void retire_hand_over(haft_worker *worker);

/* Give all of the worker's slots to other workers. */
void retire_flush(haft_worker *worker);

/* haft_abort, as called from `caller`. */
void worker_abort(haft_worker *worker, haft_id id, const void *caller);

/* What haft_free() does not do in place: a free as called from `caller`. */
haft_status worker_free(haft_worker *worker, haft_id id, const void *caller);

#endif /* HAFT_CONCURRENT_RETIRE_H */

/* concurrent/worker/reclaim.h - reclaiming slots after their grace period. */
#ifndef HAFT_CONCURRENT_RECLAIM_H
#define HAFT_CONCURRENT_RECLAIM_H

#include "concurrent/worker/state.h"

/*
 * Reclaim the slots of a batch that has elapsed; those that may be used again are ready for any
 * worker.  The worker's thread, outside callbacks; lock-free, except on_reclaim.
 *
 * A call that reclaims batches takes those that have elapsed when it begins: callbacks free others,
 * and no batch takes a ticket that is done, so the call returns.
 */
void reclaim_batch(haft_worker *worker, struct batch *source);

/*
 * reclaim_batch() for tables whose callback does not run, also inside callbacks of other tables.
 * The batch stays the caller's, with the slots that may be used again.
 */
void reclaim_quietly(haft_worker *worker, struct batch *batch);

/* Inside a callback: the batch of slots reclaimed so far, if any and of this table; else NULL. */
struct batch *reclaim_destination(const haft_table *table);

#endif /* HAFT_CONCURRENT_RECLAIM_H */

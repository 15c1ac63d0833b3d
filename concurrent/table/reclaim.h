/*
 * concurrent/table/reclaim.h - taking slots back after their grace period.
 */
#ifndef HAFT_CONCURRENT_RECLAIM_H
#define HAFT_CONCURRENT_RECLAIM_H

#include "concurrent/table/state.h"

/* Whether the table's callback runs for slots that are taken back. */
static inline bool reclaim_calls_back(const haft_table *table)
{
    return table->on_reclaim != NULL;
}

/*
 * Take back the slots of a batch whose ticket is done; those that may be used again are ready for
 * any worker.  The worker's thread, outside callbacks and the door; lock-free, except on_reclaim.
 */
void reclaim_batch(haft_worker *worker, struct batch *source);

/*
 * reclaim_batch() for tables whose callback does not run, also inside callbacks of other tables.
 * The batch stays the caller's, with the slots that may be used again.
 */
void reclaim_quietly(haft_worker *worker, struct batch *batch);

/*
 * Inside a callback: the batch that takes the slots taken back so far, if it has any and is of this
 * table; else NULL.
 */
struct batch *reclaim_destination(const haft_table *table);

/*
 * Inside a callback: a search has found nothing.  The thread takes a due batch of the table back
 * when the callback's batch is done; nothing in a callback outside a take-back (on_fill).
 * `worker`: NULL if it is a borrowed one.
 */
void reclaim_later(const haft_table *table, haft_worker *worker);

#endif /* HAFT_CONCURRENT_RECLAIM_H */

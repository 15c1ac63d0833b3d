/*
 * concurrent/table/reclaim.h - taking slots back after their grace period.
 */
#ifndef HAFT_CONCURRENT_RECLAIM_H
#define HAFT_CONCURRENT_RECLAIM_H

#include "concurrent/table/state.h"

#define REFUSALS_MOST 8 /* remembered in one call; of more, the first ones */

/* A search that found nothing inside a callback. */
struct refusal {
    uint64_t table; /* its number */
    haft_worker *worker;
    bool is_open; /* not served yet */
};

/*
 * A call that takes slots back: those that are due when it begins, and for each batch of them a due
 * batch of each table that has refused slots to the callbacks.  No batch is given a ticket that is
 * done, so each take-back leaves fewer of them, and the call returns, whatever callbacks free.
 */
struct reclaim_call {
    uint64_t done; /* the highest ticket done when the call began */
    struct refusal refusals[REFUSALS_MOST];
    unsigned refused;
};

/* The call begins; it may take back for this worker's table. */
void reclaim_begin(struct reclaim_call *call, const haft_worker *worker);

/*
 * Take back the slots of a batch that is due; those that may be used again are ready for any
 * worker.  Then a due batch of each table that has refused slots to the callbacks.  The worker's
 * thread, outside callbacks; lock-free, except on_reclaim.
 */
void reclaim_batch(haft_worker *worker, struct reclaim_call *call, struct batch *source);

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
 * Inside a callback: a search has found nothing.  The call takes a due batch of the table back when
 * the callback's batch is done; nothing in a callback outside a take-back (on_stall).  `worker`:
 * NULL if it is a borrowed one.
 */
void reclaim_later(const haft_table *table, haft_worker *worker);

#endif /* HAFT_CONCURRENT_RECLAIM_H */

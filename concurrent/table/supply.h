/*
 * concurrent/table/supply.h - where a worker finds slots.
 */
#ifndef HAFT_CONCURRENT_SUPPLY_H
#define HAFT_CONCURRENT_SUPPLY_H

#include "concurrent/table/reclaim.h"

/* Slots in the filling batch. */
struct supply {
    uint32_t count;
    bool is_new; /* the search filled the batch */
};

/*
 * Up to `most` slots in the filling batch, at least one, for the caller to use; counted at the door
 * of an exact table.  HAFT_OK, or why there are none.  The worker's thread; lock-free, except
 * callbacks.
 */
haft_status supply_find(haft_worker *worker, uint64_t most, struct supply *supply);

/*
 * Collect from the table's lists: up to a batch of freed slots takes a ticket, up to a batch of
 * aborted ones is ready, unpinned ones are taken back.  Outside callbacks.
 */
void supply_gather(haft_worker *worker, struct reclaim_call *call);

/* supply_gather() until the lists are empty; they may fill meanwhile.  True if they had slots. */
bool supply_gather_all(haft_worker *worker, struct reclaim_call *call);

/* supply_gather_all(), then take back all batches that were due before; outside callbacks. */
void supply_take_back(haft_worker *worker);

/* No slot found: ask other workers and the clock to release theirs.  HAFT_BUSY, or `fresh`. */
haft_status supply_shortage(haft_worker *worker, haft_status fresh);

#endif /* HAFT_CONCURRENT_SUPPLY_H */

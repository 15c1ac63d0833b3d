/*
 * concurrent/table/suppliers.h - what a search asks for slots.
 */
#ifndef HAFT_CONCURRENT_SUPPLIERS_H
#define HAFT_CONCURRENT_SUPPLIERS_H

#include "concurrent/table/reclaim.h"

/* The table's suppliers, by its options.  Before any worker uses it. */
void suppliers_choose(haft_table *table);

/*
 * Collect from the table's lists: up to a batch of freed slots takes a ticket, up to a batch of
 * aborted ones is ready, unpinned ones are taken back.  Outside callbacks.
 */
void suppliers_gather(haft_worker *worker, struct reclaim_call *call);

/* suppliers_gather() until the lists are empty; they may fill meanwhile.  True: they had slots. */
bool suppliers_gather_all(haft_worker *worker, struct reclaim_call *call);

/* suppliers_gather_all(), then take back all batches that were due before; outside callbacks. */
void suppliers_take_back(haft_worker *worker);

#endif /* HAFT_CONCURRENT_SUPPLIERS_H */

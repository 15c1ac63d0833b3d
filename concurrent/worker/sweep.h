/*
 * concurrent/worker/sweep.h - reclaiming slots, wherever in the table they wait.
 *
 * All functions: the worker's thread, lock-free, except on_reclaim.
 */
#ifndef HAFT_CONCURRENT_SWEEP_H
#define HAFT_CONCURRENT_SWEEP_H

#include "concurrent/worker/reclaim.h"

/* All freed slots take tickets, in batches, and are handed over. */
void drain_freed(haft_worker *worker);

/* Up to a batch of unpinned slots, which has elapsed; NULL: none. */
struct batch *drain_unpinned(haft_worker *worker);

/* Drain all lists; unpinned slots are reclaimed.  This and what follows: outside callbacks. */
void drain_lists(haft_worker *worker);

/*
 * drain_lists() until the lists are empty, at most once for each slot of the table: other threads
 * may go on filling them.  True: they had slots.
 */
bool drain_all_lists(haft_worker *worker);

/* drain_all_lists(), then reclaim all batches that had elapsed when it began. */
void sweep_elapsed(haft_worker *worker);

/*
 * If slots were handed over, reclaim some of those that have elapsed; with never_wait, only the
 * worker's own and those for which no ring had room.
 */
void sweep_handed(haft_worker *worker);

#endif /* HAFT_CONCURRENT_SWEEP_H */

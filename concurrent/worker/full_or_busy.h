/*
 * concurrent/worker/full_or_busy.h - how many slots are taken, and so what a worker without one is
 * told: HAFT_FULL or HAFT_BUSY.  Any thread, wait-free, O(workers).
 */
#ifndef HAFT_CONCURRENT_FULL_OR_BUSY_H
#define HAFT_CONCURRENT_FULL_OR_BUSY_H

#include "concurrent/worker/state.h"

/* Why `worker` found no slot: HAFT_BUSY if waiting will help, else HAFT_FULL or that of `fresh`. */
haft_status occupancy_why_none(const haft_table *table, const haft_worker *worker,
                               haft_status fresh);

/*
 * Slots in use that hold no object: they wait, are ready, or with a worker.
 * Not below the number with the slots in use as the call begins, and the objects of
 * some moment before it returns.
 */
uint64_t occupancy_idle(const haft_table *table);

#endif /* HAFT_CONCURRENT_FULL_OR_BUSY_H */

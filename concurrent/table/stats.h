/*
 * concurrent/table/stats.h - sums of the counters.  Any thread, wait-free, O(workers).
 */
#ifndef HAFT_CONCURRENT_STATS_H
#define HAFT_CONCURRENT_STATS_H

#include "concurrent/table/state.h"

struct stock {
    uint64_t live;
    uint64_t reserved;
    uint64_t retired;
    uint64_t exhausted;
};

/*
 * The live, reserved, retired and exhausted slots that the counters come to, when no other thread
 * uses the table; the other members are 0.  A wrong counter can make a number negative: it is high
 * then.
 */
struct stock stats_stock(const haft_table *table);

/*
 * Why `worker` found no slot: HAFT_BUSY if waiting will help, else HAFT_FULL or the answer for
 * `fresh` slots.
 */
haft_status stats_shortage(const haft_table *table, const haft_worker *worker, haft_status fresh);

/*
 * Slots in use that hold no object: they wait, are ready, or in a worker's hands.
 * Not below the number with the slots in use as the call begins, and the objects of
 * some moment before it returns.
 */
uint64_t stats_idle(const haft_table *table);

#endif /* HAFT_CONCURRENT_STATS_H */

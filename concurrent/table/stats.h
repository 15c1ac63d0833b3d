/* concurrent/table/stats.h - sums of the counters.  Any thread, wait-free, O(workers). */
#ifndef HAFT_CONCURRENT_STATS_H
#define HAFT_CONCURRENT_STATS_H

#include "concurrent/worker/state.h"

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

#endif /* HAFT_CONCURRENT_STATS_H */

/*
 * concurrent/worker/counters.h - what each worker counts.
 *
 * Edges in this file.
 *   COUNT    a counter that one worker writes and any thread may read
 *   TALLY    tally (release) -> count_begun (acquire)   frees before insertions into their slots
 */
#ifndef HAFT_CONCURRENT_COUNTERS_H
#define HAFT_CONCURRENT_COUNTERS_H

#include "lib/base/atomics.h"

/*
 * Each worker counts for itself; sums of differences are the table's statistics
 * (haft/detail/stats.h).  Counters of beginnings come before those of the ends.
 */
#define COUNTERS(X) BEGINNINGS(X) X(inserted) X(freed) ENDS(X)

#define BEGINNINGS(X)                                                                              \
    X(reserved)                                                                                    \
    X(published)

/* inserted: in one call, and neither of the two above.  It comes before the ends, as freed does. */

#define ENDS(X)                                                                                    \
    X(aborted)                                                                                     \
    X(reclaimed) /* freed or aborted, and reclaimed */                                             \
    X(exhausted)

/* Counters that are statistics as they are. */
#define PUBLIC_COUNTERS(X) X(batches_moved) X(refused_frees)

#define COUNTER_MEMBER(name) atomic_u64 name;

/* The first two are those of struct haft_worker_front. */
struct counters {
    atomic_u64 inserted;
    atomic_u64 freed;
    BEGINNINGS(COUNTER_MEMBER)
    ENDS(COUNTER_MEMBER)
    PUBLIC_COUNTERS(COUNTER_MEMBER)
};

/* Add to a counter that only this thread writes. */
static inline void count_up(atomic_u64 *counter, uint64_t by)
{
    store_relaxed(COUNT, counter, load_relaxed(COUNT, counter) + by);
}

/* count_up() for a beginning: a thread that sees the count sees all frees that led to it. */
static inline void tally(atomic_u64 *counter, uint64_t by)
{
    store_release(TALLY, counter, load_relaxed(COUNT, counter) + by);
}

/* a - b, or 0 where calls under way make it negative. */
static inline uint64_t positive_difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

#endif /* HAFT_CONCURRENT_COUNTERS_H */

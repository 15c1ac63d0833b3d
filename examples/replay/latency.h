/*
 * latency.h - how long calls take: a histogram of nanoseconds.
 *
 * Each power of two is split into sixteen buckets, so what is read from it is at most 1/16 too
 * high.  The largest value is kept exactly.
 */
#ifndef REPLAY_LATENCY_H
#define REPLAY_LATENCY_H

#include <stdint.h>

enum {
    LATENCY_SPLIT_BITS = 4,
    LATENCY_BUCKETS = (64 - LATENCY_SPLIT_BITS + 1) << LATENCY_SPLIT_BITS
};

struct latency {
    uint64_t counts[LATENCY_BUCKETS];
    uint64_t count;
    uint64_t max;
};

/* The monotonic clock in nanoseconds. */
uint64_t latency_now(void);

/* What is measured, usually, when nothing lies between the two readings of the clock. */
uint64_t latency_of_clock(void);

void latency_add(struct latency *latency, uint64_t ns);
void latency_merge(struct latency *latency, const struct latency *other);

/* The time that `part` (0 to 1) of the calls did not exceed; 0 if there were none. */
uint64_t latency_at(const struct latency *latency, double part);

#endif /* REPLAY_LATENCY_H */

#include "latency.h"
#include <time.h>

uint64_t latency_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t latency_of_clock(void)
{
    struct latency readings = {.count = 0};

    for (int i = 0; i < 10001; i++) {
        const uint64_t begin = latency_now();

        latency_add(&readings, latency_now() - begin);
    }
    return latency_at(&readings, 0.5);
}

/* Small values have a bucket each; others are told apart by their highest five bits. */
static unsigned bucket_of(uint64_t ns)
{
    unsigned shift = 0;

    while (ns >> shift >= 2u << LATENCY_SPLIT_BITS) {
        shift++;
    }
    return (shift << LATENCY_SPLIT_BITS) + (unsigned)(ns >> shift);
}

/* The largest value that falls into a bucket. */
static uint64_t bucket_top(unsigned bucket)
{
    const unsigned split = 1u << LATENCY_SPLIT_BITS;

    if (bucket < 2 * split) {
        return bucket;
    }
    const unsigned shift = (bucket >> LATENCY_SPLIT_BITS) - 1;
    const uint64_t lead = split + bucket % split;

    return (lead << shift) + ((UINT64_C(1) << shift) - 1);
}

void latency_add(struct latency *latency, uint64_t ns)
{
    latency->counts[bucket_of(ns)]++;
    latency->count++;
    latency->max = ns > latency->max ? ns : latency->max;
}

void latency_merge(struct latency *latency, const struct latency *other)
{
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        latency->counts[i] += other->counts[i];
    }
    latency->count += other->count;
    latency->max = other->max > latency->max ? other->max : latency->max;
}

uint64_t latency_at(const struct latency *latency, double part)
{
    const uint64_t wanted = (uint64_t)(part * (double)latency->count);
    uint64_t seen = 0;

    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        seen += latency->counts[i];
        if (seen > wanted) {
            const uint64_t top = bucket_top(i);

            return top < latency->max ? top : latency->max;
        }
    }
    return latency->max;
}

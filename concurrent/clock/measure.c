/*
 * How long a grace period has been waited for.
 *
 * Edges in this file.
 *   HINT    a first look at the measure; under its lock both words are whole
 */
#include "concurrent/clock/measure.h"
#include <stddef.h>
#include <time.h>

#define DEFAULT_STALL_NS NS_PER_S
#define MOST_STALL_NS (NS_PER_S * 60 * 60 * 24 * 365)

uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t stall_limit(uint64_t stall_ns)
{
    if (stall_ns == 0) {
        return DEFAULT_STALL_NS;
    }
    return stall_ns < MOST_STALL_NS ? stall_ns : MOST_STALL_NS;
}

void measure_open(struct measure *measure)
{
    pthread_mutex_init(&measure->lock, NULL);
    store_relaxed(HINT, &measure->ticket, 0);
}

void measure_begin(struct measure *measure, uint64_t done)
{
    if (load_relaxed(HINT, &measure->ticket) > done || pthread_mutex_trylock(&measure->lock) != 0) {
        return;
    }
    if (load_relaxed(HINT, &measure->ticket) <= done) { /* a late thread measures nothing */
        store_relaxed(HINT, &measure->since, now_ns());
        store_relaxed(HINT, &measure->ticket, done + 1);
    }
    pthread_mutex_unlock(&measure->lock);
}

uint64_t measure_read(struct measure *measure, uint64_t *since)
{
    if (load_relaxed(HINT, &measure->ticket) == 0 || pthread_mutex_trylock(&measure->lock) != 0) {
        return 0;
    }
    const uint64_t ticket = load_relaxed(HINT, &measure->ticket);

    *since = load_relaxed(HINT, &measure->since);
    pthread_mutex_unlock(&measure->lock);
    return ticket;
}

uint64_t measure_lasted(struct measure *measure, uint64_t done)
{
    uint64_t since = 0;

    return measure_read(measure, &since) == done + 1 ? now_ns() - since : 0;
}

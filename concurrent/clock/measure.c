/*
 * How long a grace period has been waited for.
 *
 * Edges in this file.
 *   HINT    a first look at the measure; under its lock both words are whole
 */
#include "concurrent/clock/measure.h"

#define DEFAULT_STALL_NS NS_PER_S
#define MOST_STALL_NS (NS_PER_S * 60 * 60 * 24 * 365)

uint64_t stall_limit(uint64_t stall_ns)
{
    if (stall_ns == 0) {
        return DEFAULT_STALL_NS;
    }
    return stall_ns < MOST_STALL_NS ? stall_ns : MOST_STALL_NS;
}

void measure_open(struct measure *measure)
{
    os_mutex_open(&measure->lock);
    store_relaxed(HINT, &measure->ticket, 0);
}

bool measure_begin(struct measure *measure, uint64_t done)
{
    if (load_relaxed(HINT, &measure->ticket) > done) {
        return true;
    }
    if (!os_mutex_try_lock(&measure->lock)) {
        return false;
    }
    if (load_relaxed(HINT, &measure->ticket) <= done) { /* a late thread measures nothing */
        store_relaxed(HINT, &measure->since, os_now_ns());
        store_relaxed(HINT, &measure->ticket, done + 1);
    }
    os_mutex_unlock(&measure->lock);
    return true;
}

uint64_t measure_read(struct measure *measure, uint64_t *since)
{
    if (load_relaxed(HINT, &measure->ticket) == 0 || !os_mutex_try_lock(&measure->lock)) {
        return 0;
    }
    const uint64_t ticket = load_relaxed(HINT, &measure->ticket);

    *since = load_relaxed(HINT, &measure->since);
    os_mutex_unlock(&measure->lock);
    return ticket;
}

uint64_t measure_lasted(struct measure *measure, uint64_t done)
{
    uint64_t since = 0;

    return measure_read(measure, &since) == done + 1 ? os_now_ns() - since : 0;
}

/*
 * How long a grace period has been waited for.
 *
 * A measure is written under a lock, `since` before `ticket`, and read without it.  A reader may
 * find the `since` of a later measure with the `ticket` before.  That one's grace period has ended
 * then, which the reader sees when it looks at `done` afterwards.
 *
 * Edges in this file.
 *   MEASURE  measure_begin (release) -> measure_read (acquire)   `since` of a ticket; the end of
 *            the grace period before, if `since` is later
 *   HINT     a first look at the measure
 */
#include "concurrent/clock/measure.h"

void measure_open(struct measure *measure)
{
    os_mutex_open(&measure->lock);
    store_relaxed(HINT, &measure->reported, 0);
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
        /* Weakened, a reader could count it for the grace period before, which has ended. */
        store_release(MEASURE, &measure->since, os_now_ns());
        /* Weakened, a reader could count from when the grace period before began. */
        store_release(MEASURE, &measure->ticket, done + 1);
    }
    os_mutex_unlock(&measure->lock);
    return true;
}

uint64_t measure_read(const struct measure *measure, uint64_t *since)
{
    const uint64_t ticket = load_acquire(MEASURE, &measure->ticket);

    *since = load_acquire(MEASURE, &measure->since);
    return ticket;
}

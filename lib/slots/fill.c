/*
 * The warning before a table is full.
 *
 * Local and packed tables look at each object that comes: the count says how low the fill had
 * fallen.  A shared table looks once a batch, of objects that come and of those that have gone
 * (concurrent/table/stats.c).  A count is used only if the fill's state has not changed since
 * before it was taken; so no count from before the warning makes the table warn again.
 *
 * Edges in this file.
 *   TALLY   fill_look (release) -> fill_seen (acquire)   the counts by which a thread has warned,
 *           to those of a thread that knows of the warning
 *   RETRY   the state, decided by its compare-and-swap: that the fill is low promises nothing
 *   OWN     one thread uses the table
 */
#include "lib/slots/fill.h"

uint64_t fill_seen(const struct fill *fill)
{
    /* Weakened, a thread that knows of a warning could count objects as they were before. */
    return load_acquire(TALLY, &fill->warned);
}

void fill_set(struct fill *fill, uint64_t seen)
{
    store_relaxed(OWN, &fill->warned, seen);
}

bool fill_has_warned(uint64_t seen)
{
    return seen % 2 != 0;
}

bool fill_look_at_low(struct fill *fill, uint64_t seen, uint64_t in_use)
{
    const uint64_t low = fill->warn_at - (fill->warn_at + 7) / 8;

    return in_use <= low && cas_relaxed(RETRY, &fill->warned, seen, seen + 1);
}

void fill_look(struct fill *fill, uint64_t seen, const char *table, uint64_t in_use,
               uint64_t capacity)
{
    const haft_fill said = {table, in_use, capacity};

    if (fill_has_warned(seen) && fill_look_at_low(fill, seen, in_use - 1)) {
        seen++;
    }
    /* Weakened, the same. */
    if (!fill_has_warned(seen) && in_use >= fill->warn_at &&
        cas_release(TALLY, &fill->warned, seen, seen + 1)) {
        fill->on_fill(&said, fill->arg);
    }
}

void fill_look_alone(struct fill *fill, const char *table, uint64_t in_use, uint64_t capacity)
{
    if (!fill->is_warning) {
        fill->is_warning = true;
        fill_look(fill, fill_seen(fill), table, in_use, capacity);
        fill->is_warning = false;
    }
}

/*
 * The warning before a table is full.
 *
 * A thread looks when an object comes, not when one goes: the count that it finds then says how low
 * the fill had fallen.  A count is used only if the fill's state has not changed since before it
 * was taken; so no count from before the warning makes the table warn again.  Local and packed
 * tables look here, at each object; a shared one once a batch (concurrent/table/stats.c).
 *
 * Edges in this file.
 *   RETRY   the state, decided by its compare-and-swap: the thread that changes it warns
 */
#include "lib/slots/fill.h"

uint64_t fill_seen(const struct fill *fill)
{
    return load_relaxed(RETRY, &fill->warned);
}

void fill_set(struct fill *fill, uint64_t seen)
{
    store_relaxed(RETRY, &fill->warned, seen);
}

void fill_look(struct fill *fill, uint64_t seen, const char *table, uint64_t in_use,
               uint64_t capacity)
{
    const haft_fill said = {table, in_use, capacity};
    const uint64_t low = fill->warn_at - (fill->warn_at + 7) / 8;

    if (seen % 2 != 0 && in_use - 1 <= low) { /* it has warned, and may again */
        if (!cas_relaxed(RETRY, &fill->warned, seen, seen + 1)) {
            return;
        }
        seen++;
    }
    if (seen % 2 == 0 && in_use >= fill->warn_at &&
        cas_relaxed(RETRY, &fill->warned, seen, seen + 1)) {
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

/*
 * The warning before a table is full.
 *
 * Whoever comes looks, nobody who goes: what a slot that comes leaves behind it says how low the
 * fill had fallen before.
 *
 * Edges in this file.
 *   RETRY   whether it has been said; the compare-and-swap decides who says it
 */
#include "lib/slots/fill.h"

void fill_look(struct fill *fill, const char *table, uint64_t in_use, uint64_t capacity)
{
    const haft_fill said = {table, in_use, capacity};
    const uint64_t low = fill->warn_at - (fill->warn_at + 7) / 8;

    if (in_use - 1 <= low && load_relaxed(RETRY, &fill->warned) != 0) {
        store_relaxed(RETRY, &fill->warned, 0);
    }
    if (in_use >= fill->warn_at && load_relaxed(RETRY, &fill->warned) == 0 &&
        cas_relaxed(RETRY, &fill->warned, 0, 1)) {
        fill->on_fill(&said, fill->arg);
    }
}

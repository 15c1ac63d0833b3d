/*
 * An exact capacity: one counter of all objects live or reserved, for the whole table.
 *
 * Edges in this file.
 *   RETRY   the counter: a number, decided by its compare-and-swap.  The slots themselves travel in
 *           batches
 */
#include "concurrent/table/table.h"

uint64_t exact_take(haft_table *table, uint64_t most)
{
    for (;;) {
        const uint64_t taken = load_relaxed(RETRY, &table->taken);
        const uint64_t room = table->capacity - taken;
        const uint64_t drawn = most < room ? most : room;

        /* Never beyond the capacity, not even for a moment: another would be told HAFT_FULL. */
        if (drawn == 0) {
            return 0;
        }
        if (cas_relaxed(RETRY, &table->taken, taken, taken + drawn)) {
            return drawn;
        }
    }
}

void exact_give(haft_table *table)
{
    fetch_add_relaxed(RETRY, &table->taken, UINT64_MAX);
}

bool exact_is_full(const haft_table *table)
{
    return table->is_exact && load_relaxed(RETRY, &table->taken) == table->capacity;
}

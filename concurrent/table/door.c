/*
 * The door of a table with an exact capacity.
 *
 * Edges in this file.
 *   OWN     no other thread uses the table
 *   COUNT   a number; the slots travel in batches
 *   RETRY   the counter, decided by its compare-and-swap.  It carries numbers only
 */
#include "concurrent/table/door.h"

/* Committed units in the upper half, searching ones in the lower. */
#define COMMITTED_ONE (UINT64_C(1) << 32)
#define SEARCHING (COMMITTED_ONE - 1)

static uint64_t committed(uint64_t door)
{
    return door / COMMITTED_ONE;
}

/* Up to `most` units come, each of which adds `one`. */
static haft_status come(haft_table *table, uint64_t most, uint64_t one, uint64_t *units)
{
    for (;;) {
        const uint64_t door = load_relaxed(RETRY, &table->door);
        const uint64_t inside = committed(door) + (door & SEARCHING);

        if (inside >= table->capacity) {
            return committed(door) >= table->capacity ? HAFT_FULL : HAFT_BUSY;
        }
        const uint64_t room = table->capacity - inside;

        *units = most < room ? most : room;
        if (cas_relaxed(RETRY, &table->door, door, door + *units * one)) {
            return HAFT_OK;
        }
    }
}

haft_status door_enter(haft_table *table, uint64_t most, uint64_t *units)
{
    return come(table, most, 1, units);
}

haft_status door_pass(haft_table *table, uint64_t most, uint64_t *units)
{
    return come(table, most, COMMITTED_ONE, units);
}

void door_settle(haft_table *table, uint64_t units, uint64_t found)
{
    fetch_add_relaxed(RETRY, &table->door, found * COMMITTED_ONE - units);
}

void door_leave(haft_table *table)
{
    fetch_add_relaxed(RETRY, &table->door, UINT64_C(0) - COMMITTED_ONE);
}

uint64_t door_committed(const haft_table *table)
{
    return committed(load_relaxed(COUNT, &table->door));
}

uint64_t door_searching(const haft_table *table)
{
    return load_relaxed(COUNT, &table->door) & SEARCHING;
}

void door_set(haft_table *table, uint64_t committed_units)
{
    store_relaxed(OWN, &table->door, committed_units * COMMITTED_ONE);
}

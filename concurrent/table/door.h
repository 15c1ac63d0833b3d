/*
 * concurrent/table/door.h - the door of a table with an exact capacity.
 *
 * One word counts the units of the capacity: committed ones (objects live or reserved) and
 * searching ones (a call looks for a slot).  A unit is searching until its slot is found.  So a
 * call returns HAFT_FULL only while committed units fill the capacity, and a search in vain makes
 * no other call return HAFT_FULL.  No callback runs while a unit is searching.
 *
 * All functions: any thread, lock-free, one read-modify-write; in tables with is_exact only.
 */
#ifndef HAFT_CONCURRENT_DOOR_H
#define HAFT_CONCURRENT_DOOR_H

#include "concurrent/table/state.h"

/*
 * Up to `most` units search from now on: how many in `*units`, HAFT_OK.  HAFT_FULL if committed
 * units fill the capacity, HAFT_BUSY if those that search do.
 */
haft_status door_enter(haft_table *table, uint64_t most, uint64_t *units);

/* Of `units` that searched, `found` are committed, the others end. */
void door_settle(haft_table *table, uint64_t units, uint64_t found);

/* Enter and settle at once, for slots at hand: up to `most` units are committed. */
haft_status door_pass(haft_table *table, uint64_t most, uint64_t *units);

/* A committed unit ends. */
void door_leave(haft_table *table);

/* A snapshot: committed units. */
uint64_t door_committed(const haft_table *table);

/* A snapshot: units that search; none while no call is under way. */
uint64_t door_searching(const haft_table *table);

/* Set the committed units of a table that no other thread uses. */
void door_set(haft_table *table, uint64_t committed);

#endif /* HAFT_CONCURRENT_DOOR_H */

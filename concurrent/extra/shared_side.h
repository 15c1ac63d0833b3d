/*
 * concurrent/extra/shared_side.h - the sides of a shared table: opening, closing, recycling, forks
 * and haft_table_explain() alone look at them.
 */
#ifndef HAFT_CONCURRENT_SHARED_SIDE_H
#define HAFT_CONCURRENT_SHARED_SIDE_H

#include "concurrent/table/state.h"

/* Whether any side is open, as far as the calling thread sees.  Wait-free. */
bool shared_sides_are_open(const haft_table *table);

/* Slot `index`, which is exhausted and recycled by this thread alone, has no values. */
void shared_sides_forget(haft_table *table, uint64_t index);

#endif /* HAFT_CONCURRENT_SHARED_SIDE_H */

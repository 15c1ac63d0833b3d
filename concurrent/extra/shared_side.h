/*
 * concurrent/extra/shared_side.h - the sides of a shared table: opening, closing, forks and
 * haft_table_explain() alone look at them.
 */
#ifndef HAFT_CONCURRENT_SHARED_SIDE_H
#define HAFT_CONCURRENT_SHARED_SIDE_H

#include "concurrent/table/state.h"

/* Whether any side is open, as far as the calling thread sees.  Wait-free. */
bool shared_sides_are_open(const haft_table *table);

#endif /* HAFT_CONCURRENT_SHARED_SIDE_H */

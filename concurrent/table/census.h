/*
 * concurrent/table/census.h - a walk over a whole table: each slot is in exactly one place, and
 * the counters agree.
 */
#ifndef HAFT_CONCURRENT_CENSUS_H
#define HAFT_CONCURRENT_CENSUS_H

#include "concurrent/worker/state.h"

/*
 * Whether all is right with a table while no call on it is under way; if not, a line on stderr
 * says what.  True if there is no memory for a byte a slot.  Blocking; O(slots ever used).
 */
bool census_is_right(const haft_table *table);

#endif /* HAFT_CONCURRENT_CENSUS_H */

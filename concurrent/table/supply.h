/*
 * concurrent/table/supply.h - the search for a slot.
 */
#ifndef HAFT_CONCURRENT_SUPPLY_H
#define HAFT_CONCURRENT_SUPPLY_H

#include "concurrent/table/state.h"
#include <stddef.h>

/*
 * Up to `most` slots in the filling batch, at least one, for the caller to use: how many in
 * `*count`.  HAFT_OK, or why there are none.  The worker's thread; lock-free, except callbacks.
 */
haft_status supply_find(haft_worker *worker, uint64_t most, uint32_t *count);

#endif /* HAFT_CONCURRENT_SUPPLY_H */

/* concurrent/worker/refill.h - finding slots for a worker's filling batch. */
#ifndef HAFT_CONCURRENT_REFILL_H
#define HAFT_CONCURRENT_REFILL_H

#include "concurrent/worker/state.h"

/*
 * Up to `most` slots in the filling batch, at least one, for the caller to use: how many in
 * `*count`.  HAFT_OK, or why there are none.  The worker's thread; lock-free, except callbacks.
 */
haft_status refill_if_empty(haft_worker *worker, uint64_t most, uint32_t *count);

#endif /* HAFT_CONCURRENT_REFILL_H */

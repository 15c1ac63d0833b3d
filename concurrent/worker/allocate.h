/*
 * concurrent/worker/allocate.h - the way in: haft_reserve, as called from `caller`.  The worker's
 * thread; lock-free, except callbacks.
 */
#ifndef HAFT_CONCURRENT_ALLOCATE_H
#define HAFT_CONCURRENT_ALLOCATE_H

#include "concurrent/worker/state.h"

haft_status worker_reserve(haft_worker *worker, haft_id *id, void **object, const void *caller);

#endif /* HAFT_CONCURRENT_ALLOCATE_H */

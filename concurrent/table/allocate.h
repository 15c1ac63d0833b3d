/*
 * concurrent/table/allocate.h - the way in: haft_reserve and haft_insert, as called from `caller`.
 * The worker's thread; lock-free, except callbacks.
 */
#ifndef HAFT_CONCURRENT_ALLOCATE_H
#define HAFT_CONCURRENT_ALLOCATE_H

#include "concurrent/table/state.h"

haft_status worker_reserve(haft_worker *worker, haft_id *id, void **object, const void *caller);
haft_status worker_insert(haft_worker *worker, const void *object, haft_id *id, const void *caller);

/*
 * After `*status`: whether to try again, now that the clock has been waited for; else `*status` is
 * the answer.  `*turn` counts the tries, from 0 on.  Blocking.
 */
bool worker_await_slots(const haft_table *table, haft_status *status, uint64_t *turn);

#endif /* HAFT_CONCURRENT_ALLOCATE_H */

/*
 * concurrent/worker/fresh.h - slots never used, or not since their memory was released.
 *
 * fresh_give, fresh_take: the worker's thread, lock-free.
 */
#ifndef HAFT_CONCURRENT_FRESH_H
#define HAFT_CONCURRENT_FRESH_H

#include "concurrent/worker/state.h"
#include <haft/view.h>

/* The worker's extent, which is empty, has `count` slots from `first` on; used before or not. */
void fresh_give(haft_worker *worker, uint64_t first, uint64_t count, bool again);

/* How many fresh slots, up to `most`, from `*first` on.  0: `*status` is FULL or NO_MEMORY. */
uint64_t fresh_take(haft_worker *worker, uint64_t most, uint64_t *first, haft_status *status);

/* Fresh slots in all workers' extents: those used before, or those never used. */
uint64_t fresh_in_extents(const haft_table *table, bool again);

/* Slots ever used: drawn from the table, and in no extent any more. */
uint64_t fresh_used(const haft_table *table);

/* The range of these slots: it has no slot whose object the caller knows to be inserted. */
haft_range fresh_range(const haft_worker *worker);

#endif /* HAFT_CONCURRENT_FRESH_H */

/*
 * concurrent/worker/budget.h - slots that workers may hold back.
 *
 * A worker with a batch limit of n may hold back 2 * (n - 1) slots, which it draws from the table's
 * budget when it first finds or frees a slot.  Before, and while it is closed or borrowed, its
 * limit is 1: it holds nothing back.
 *
 * All functions: the worker's thread, lock-free.
 */
#ifndef HAFT_CONCURRENT_BUDGET_H
#define HAFT_CONCURRENT_BUDGET_H

#include "concurrent/worker/state.h"

/* Before the worker finds slots, or retires a batch that has reached its limit. */
void budget_draw(haft_worker *worker);

/* The worker gives back all that it drew. */
void budget_return(haft_worker *worker);

/* Set the worker's batch limit, which it keeps: it draws no other share. */
void worker_set_batch_limit(haft_worker *worker, uint32_t limit);

#endif /* HAFT_CONCURRENT_BUDGET_H */

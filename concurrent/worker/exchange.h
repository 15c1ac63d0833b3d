/*
 * concurrent/worker/exchange.h - batches on their way between a worker, the rings and the depots.
 *
 * All functions but the last: the worker's thread, lock-free.  A batch that is handed over is not
 * the caller's any more.
 */
#ifndef HAFT_CONCURRENT_EXCHANGE_H
#define HAFT_CONCURRENT_EXCHANGE_H

#include "concurrent/worker/state.h"

/* An empty batch for this worker; and an empty one back. */
struct batch *exchange_take_empty(haft_worker *worker);
void exchange_give_empty(haft_worker *worker, struct batch *batch);

/* The batch waits under its ticket: in the worker's ring.  False: there was no room, so batches
 * before it have moved, or it is in the depot. */
bool exchange_put_waiting(haft_worker *worker, struct batch *batch);

/* The batch may be reused at once: in the worker's ring, or in the depot. */
void exchange_put_ready(haft_worker *worker, struct batch *batch);

/* exchange_put_ready(), but a full batch goes to the depot, from which any worker takes it. */
void exchange_offer_ready(haft_worker *worker, struct batch *batch);

/* A batch to be reused at once: the worker's own or the depot's; or other workers'.  NULL: none. */
struct batch *exchange_take_ready(haft_worker *worker);
struct batch *exchange_steal_ready(haft_worker *worker);

/* A batch that has elapsed by `done`: the worker's own or the depot's; or others'.  NULL: none. */
struct batch *exchange_take_elapsed(haft_worker *worker, uint64_t done);
struct batch *exchange_steal_elapsed(haft_worker *worker, uint64_t done);

/* Such a batch, the worker's own or the depot's before those of other workers. */
struct batch *exchange_find_ready(haft_worker *worker);
struct batch *exchange_find_elapsed(haft_worker *worker, uint64_t done);

/* Any batch that waits, when no other thread uses the table.  NULL: none. */
struct batch *exchange_take_waiting(haft_worker *worker);

#endif /* HAFT_CONCURRENT_EXCHANGE_H */

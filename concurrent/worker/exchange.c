/*
 * Batches on their way: from a worker to its rings or the depots, and back to some worker.
 *
 * One rule bounds the number of batches: only full ones go to a depot.  If a ring has no room for a
 * partial batch, its oldest batch is put together with the new one.  Slots of a batch whose ticket
 * is done are never put under a ticket that is not.
 *
 * Edges in this file.
 *   OWN   this worker has the batch
 */
#include "concurrent/worker/exchange.h"
#include "concurrent/batches/batch.h"
#include "concurrent/batches/pool.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/worker/descriptors.h"
#include "concurrent/worker/handed.h"
#include "concurrent/worker/worker_list.h"
#include "lib/base/walk.h"
#include <assert.h>
#include <stddef.h>

struct batch *exchange_take_empty(haft_worker *worker)
{
    assert(worker->spare_count <= SPARE_BATCHES);
    if (worker->spare_count == 0) {
        return pool_take(&worker->table->pool, worker->segment);
    }
    return worker->spares[--worker->spare_count];
}

void exchange_give_empty(haft_worker *worker, struct batch *batch)
{
    assert(batch->count == 0 && batch != worker->open);
    batch->has_last_lives = false;
    if (worker->spare_count >= descriptors_spare(worker)) {
        pool_give(&worker->table->pool, batch);
    } else {
        worker->spares[worker->spare_count++] = batch;
    }
}

static void to_depot(haft_worker *worker, struct depot *depot, struct batch *batch)
{
    assert(batch->count == worker->table->batch_max && "only full batches go to a depot");
    assert_walk(batch_is_sound(batch));
    depot_push(depot, &worker->table->pool, batch);
    count_up(&worker->counters.batches_moved, 1);
}

/* One of a worker's rings, how many batches it may have, and the depot for full batches beyond. */
struct batch_queue {
    struct ring *ring;
    uint64_t most;
    struct depot *depot;
};

static bool push(const struct batch_queue *queue, const struct batch *batch)
{
    return ring_length(queue->ring) < queue->most && ring_push(queue->ring, batch);
}

/*
 * Put the batch and the oldest one of the ring together.  If that makes a full batch, it goes to
 * the depot.  Returns the batch that is still to be pushed.
 */
static struct batch *put_together(haft_worker *worker, const struct batch_queue *queue,
                                  struct batch *batch, struct batch *oldest)
{
    assert(oldest->count != 0 && batch->count != 0);
    batch_move(batch, oldest, worker->table->batch_max);
    if (oldest->count == 0) {
        exchange_give_empty(worker, oldest);
        return batch;
    }
    to_depot(worker, queue->depot, batch);
    return oldest;
}

/*
 * The oldest batch of a full ring has elapsed, and `batch` waits.  So the oldest goes to the ring's
 * end, and the next one makes room in its place.  (If that one has elapsed too, the two go
 * together.)
 */
static struct batch *pass_over(haft_worker *worker, const struct batch_queue *queue,
                               struct batch *elapsed, struct batch *batch, uint64_t done)
{
    struct batch *next = ring_take(queue->ring, &worker->table->pool, UINT64_MAX);

    if (next == NULL) {
        /* others have emptied the ring meanwhile */
    } else if (load_relaxed(OWN, &next->ticket) <= done) {
        elapsed = put_together(worker, queue, elapsed, next);
    } else {
        batch = put_together(worker, queue, batch, next);
    }
    const bool is_pushed = ring_push(queue->ring, elapsed);

    (void)is_pushed;
    assert(is_pushed && "there is room: two were taken, and only the owner pushes");
    return batch;
}

/* Push the batch to the ring, or to the depot. */
static void put_in_queue(haft_worker *worker, const struct batch_queue *queue, struct batch *batch,
                         uint64_t done)
{
    haft_table *table = worker->table;

    assert(batch->count != 0 && batch->count <= table->batch_max);
    assert_walk(batch_is_sound(batch));
    while (!push(queue, batch)) {
        if (batch->count == table->batch_max) {
            to_depot(worker, queue->depot, batch);
            return;
        }
        struct batch *oldest = ring_take(queue->ring, &table->pool, UINT64_MAX);

        if (oldest == NULL) {
            continue; /* others have emptied the ring meanwhile */
        }
        const bool has_elapsed = load_relaxed(OWN, &oldest->ticket) <= done;

        batch = has_elapsed && load_relaxed(OWN, &batch->ticket) > done
                    ? pass_over(worker, queue, oldest, batch, done)
                    : put_together(worker, queue, batch, oldest);
    }
}

bool exchange_put_waiting(haft_worker *worker, struct batch *batch)
{
    const struct batch_queue queue = {&worker->waiting, descriptors_waiting(worker),
                                      &worker->table->waiting};

    if (push(&queue, batch)) {
        return true;
    }
    const bool has_begun = transit_begin(worker);

    put_in_queue(worker, &queue, batch, domain_done(worker->table->domain));
    count_up(&worker->moves, 1);
    transit_end(worker, has_begun);
    return false;
}

void exchange_put_ready(haft_worker *worker, struct batch *batch)
{
    const struct batch_queue queue = {&worker->ready, descriptors_ready(worker),
                                      &worker->table->ready};

    store_relaxed(OWN, &batch->ticket, 0);
    if (batch->count == 0) {
        exchange_give_empty(worker, batch);
    } else {
        put_in_queue(worker, &queue, batch, 0);
    }
}

void exchange_offer_ready(haft_worker *worker, struct batch *batch)
{
    if (batch->count == worker->table->batch_max) {
        store_relaxed(OWN, &batch->ticket, 0);
        to_depot(worker, &worker->table->ready, batch);
    } else {
        exchange_put_ready(worker, batch);
    }
}

struct batch *exchange_take_ready(haft_worker *worker)
{
    haft_table *table = worker->table;
    struct batch *batch = ring_take(&worker->ready, &table->pool, UINT64_MAX);

    if (batch == NULL) {
        batch = depot_take(&table->ready, &table->pool, UINT64_MAX);
        count_up(&worker->counters.batches_moved, batch != NULL);
    }
    return batch;
}

struct batch *exchange_take_elapsed(haft_worker *worker, uint64_t done)
{
    haft_table *table = worker->table;
    struct batch *batch = ring_take(&worker->waiting, &table->pool, done);

    if (batch == NULL) {
        batch = depot_take(&table->waiting, &table->pool, done);
        count_up(&worker->counters.batches_moved, batch != NULL);
    }
    return batch;
}

struct batch *exchange_steal_ready(haft_worker *worker)
{
    const haft_table *table = worker->table;
    struct batch *batch = NULL;

    for (haft_worker *other = worker_list_first(table); other != NULL && batch == NULL;
         other = other->next) {
        batch = ring_take(&other->ready, &table->pool, UINT64_MAX);
    }
    count_up(&worker->counters.batches_moved, batch != NULL);
    return batch;
}

struct batch *exchange_steal_elapsed(haft_worker *worker, uint64_t done)
{
    const haft_table *table = worker->table;
    struct batch *batch = NULL;

    for (haft_worker *other = worker_list_first(table); other != NULL && batch == NULL;
         other = other->next) {
        batch = ring_take(&other->waiting, &table->pool, done);
    }
    count_up(&worker->counters.batches_moved, batch != NULL);
    return batch;
}

struct batch *exchange_find_ready(haft_worker *worker)
{
    struct batch *batch = exchange_take_ready(worker);

    return batch != NULL ? batch : exchange_steal_ready(worker);
}

struct batch *exchange_find_elapsed(haft_worker *worker, uint64_t done)
{
    struct batch *batch = exchange_take_elapsed(worker, done);

    return batch != NULL ? batch : exchange_steal_elapsed(worker, done);
}

struct batch *exchange_take_waiting(haft_worker *worker)
{
    haft_table *table = worker->table;
    struct batch *batch = exchange_steal_elapsed(worker, UINT64_MAX);

    return batch != NULL ? batch : depot_take(&table->waiting, &table->pool, UINT64_MAX);
}

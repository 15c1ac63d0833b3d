/*
 * Batches on their way: from a worker to its rings or the depot, and back to some worker.
 *
 * The rule that bounds the number of batches: only full ones go to the depot.  A ring that has
 * no room for a partial batch is made to have: its oldest is topped up until it is full.
 *
 * Edges in this file.
 *   OWN   this worker has the batch
 */
#include "concurrent/table/table.h"
#include <stddef.h>

struct batch *worker_empty_batch(haft_worker *worker)
{
    if (worker->spare_count == 0) {
        return pool_take(&worker->table->pool, &worker->segment);
    }
    return worker->spares[--worker->spare_count];
}

void worker_give_batch(haft_worker *worker, struct batch *batch)
{
    batch->has_last_lives = false;
    if (worker->spare_count == SPARE_BATCHES) {
        pool_give(&worker->table->pool, batch);
    } else {
        worker->spares[worker->spare_count++] = batch;
    }
}

static void to_depot(haft_worker *worker, struct batch *batch)
{
    haft_table *table = worker->table;

    depot_push(&table->depot, &table->pool, batch);
    count_up(&worker->counters.moved, 1);
}

void worker_shelve(haft_worker *worker, struct batch *batch)
{
    haft_table *table = worker->table;
    const bool is_ready = load_relaxed(OWN, &batch->ticket) == 0;
    struct ring *ring = is_ready ? &worker->ready : &worker->waiting;

    while (!ring_push(ring, batch)) {
        if (batch->count == table->batch_max) {
            to_depot(worker, batch);
            return;
        }
        struct batch *oldest = ring_take(ring, &table->pool, UINT64_MAX);

        if (oldest == NULL) {
            continue; /* others have emptied the ring meanwhile */
        }
        batch_move(batch, oldest, table->batch_max);
        if (oldest->count == 0) {
            worker_give_batch(worker, oldest);
        } else {
            to_depot(worker, batch);
            batch = oldest;
        }
    }
}

void worker_offer(haft_worker *worker, struct batch *batch)
{
    store_relaxed(OWN, &batch->ticket, 0);
    if (batch->count == 0) {
        worker_give_batch(worker, batch);
    } else if (batch->count == worker->table->batch_max) {
        to_depot(worker, batch);
    } else {
        worker_shelve(worker, batch);
    }
}

static struct batch *take_from_rings(haft_worker *worker, uint64_t done)
{
    const struct pool *pool = &worker->table->pool;
    struct batch *batch = ring_take(&worker->ready, pool, done);

    return batch != NULL ? batch : ring_take(&worker->waiting, pool, done);
}

struct batch *worker_take_ready(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t done = domain_done(table->domain);
    struct batch *batch = take_from_rings(worker, done);

    if (batch == NULL) {
        batch = depot_take(&table->depot, &table->pool, done);
        count_up(&worker->counters.moved, batch != NULL);
    }
    return batch;
}

struct batch *worker_steal_ready(haft_worker *worker)
{
    const uint64_t done = domain_done(worker->table->domain);

    for (haft_worker *other = first_worker(worker->table); other != NULL; other = other->next) {
        struct batch *batch = take_from_rings(other, done);

        if (batch != NULL) {
            count_up(&worker->counters.moved, 1);
            return batch;
        }
    }
    return NULL;
}

/*
 * Batches on their way: from a worker to its ring or the depot, and back to some worker.
 *
 * The rule that bounds the number of batches: only full ones go to the depot.  A ring that has
 * no room for a partial batch is made to have: its oldest is topped up until it is full.
 */
#include "concurrent/table.h"
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

    while (!ring_push(&worker->ring, batch)) {
        if (batch->count == table->batch_max) {
            to_depot(worker, batch);
            return;
        }
        struct batch *oldest = ring_take(&worker->ring, &table->pool, UINT64_MAX);

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

struct batch *worker_take_ready(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t done = domain_done(table->domain);
    struct batch *batch = ring_take(&worker->ring, &table->pool, done);

    if (batch == NULL) {
        batch = depot_take(&table->depot, &table->pool, done);
        count_up(&worker->counters.moved, batch != NULL);
    }
    return batch;
}

struct batch *worker_steal_ready(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t done = domain_done(table->domain);

    for (haft_worker *other = first_worker(table); other != NULL; other = other->next) {
        struct batch *batch = ring_take(&other->ring, &table->pool, done);

        if (batch != NULL) {
            count_up(&worker->counters.moved, 1);
            return batch;
        }
    }
    return NULL;
}

/*
 * A minimum reuse distance: slots wait for a number of creations after their grace period.
 *
 * `created` counts the objects of the table that were ever reserved.  A slot's free reads it after
 * the id has ended, so the sum of it and the distance is at least the number of the slot's last
 * object and the distance; whoever takes the slot has read a count no lower, and is counted after
 * that.  So the numbers of two objects in one slot lie more than the distance apart, whatever any
 * thread does meanwhile.
 *
 * And it ends: there are `capacity` + `distance` slots, and batches are single slots, so that
 * workers hold none back.  Of the slots that are taken, or were freed too late, at most `capacity`
 * were taken when the count became the present one less `distance` - 1, since an object is counted
 * in `taken` before it is counted as created, and until its free has read the count; the others
 * were created since.  So one slot at least is due, or waits for its grace period alone, whenever
 * `taken` is below the capacity.
 *
 * The queue's order is only roughly that of the counts read, so one that is due may stand behind
 * one that is not: before a worker finds nothing the queue is turned round once.
 *
 * Edges in this file.
 *   OWN     this worker has the batch
 *   TALLY   exact_take (release) -> cool_note_end (acquire)
 *           an object counted in `taken` before it is counted as created; and `taken` given back
 *           after the count was read
 *   COUNT   how many were created: a number; the slots travel through the depots
 */
#include "concurrent/table/table.h"
#include <stddef.h>

void cool_note_end(haft_worker *worker)
{
    const haft_table *table = worker->table;

    /* Weakened, more than `capacity` slots could wait for creations that nothing is left for. */
    worker->open->due = load_acquire(TALLY, &table->created) + table->distance;
}

void cool_push(haft_table *table, struct batch *batch)
{
    store_relaxed(OWN, &batch->ticket, batch->due);
    depot_push(&table->cooling, &table->pool, batch);
}

/* The first in the queue, if it was due when `created` were. */
static struct batch *take_first(haft_table *table, uint64_t created)
{
    struct batch *batch = depot_take(&table->cooling, &table->pool, created);

    if (batch != NULL) {
        store_relaxed(OWN, &batch->ticket, 0); /* which the domain's clock knows nothing of */
    }
    return batch;
}

static struct batch *take_due(haft_table *table)
{
    return take_first(table, load_relaxed(COUNT, &table->created));
}

/*
 * What is past its grace period in the ring of `from` is taken back, and goes into the queue; what
 * is set aside is restored from where it lies.
 */
static void empty_ring(haft_worker *worker, haft_worker *from, uint64_t done)
{
    struct pool *pool = &worker->table->pool;
    struct batch *batch;

    /* No more than that: its owner may go on. */
    for (int i = 0; i < RING_BATCHES; i++) {
        batch = ring_take(&from->waiting, pool, done);
        if (batch == NULL) {
            return;
        }
        worker_take_back(worker, batch);
    }
}

/* The same of the depot. */
static void empty_depot(haft_worker *worker, uint64_t done)
{
    haft_table *table = worker->table;
    struct batch *batch;

    while ((batch = depot_take(&table->depot, &table->pool, done)) != NULL) {
        worker_take_back(worker, batch);
    }
}

/* One that is due, wherever in the queue. */
static struct batch *turn_round(haft_table *table)
{
    const uint64_t most = table->slots.limit; /* at any time */

    for (uint64_t i = 0; i < most; i++) {
        struct batch *batch = take_first(table, UINT64_MAX);

        if (batch == NULL || batch->due <= load_relaxed(COUNT, &table->created)) {
            return batch;
        }
        cool_push(table, batch);
    }
    return NULL;
}

struct batch *cool_take(haft_worker *worker)
{
    haft_table *table = worker->table;
    struct batch *batch = take_due(table);

    if (batch == NULL) {
        const uint64_t done = domain_done(table->domain);

        empty_ring(worker, worker, done);
        empty_depot(worker, done);
        batch = take_due(table);
    }
    count_up(&worker->counters.moved, batch != NULL);
    return batch;
}

struct batch *cool_steal(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t done = domain_done(table->domain);

    for (haft_worker *other = first_worker(table); other != NULL; other = other->next) {
        empty_ring(worker, other, done);
    }
    struct batch *batch = turn_round(table);

    count_up(&worker->counters.moved, batch != NULL);
    return batch;
}

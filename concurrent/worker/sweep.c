/*
 * Sweeping a table: reclaiming what has elapsed from its lists, and from any ring or depot.
 *
 * Edges in this file.
 *   HINT   whether anything was handed over: a look that comes too early is made again
 */
#include "concurrent/worker/sweep.h"
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/worker/exchange.h"
#include "concurrent/worker/handed.h"
#include "concurrent/worker/lists.h"
#include "concurrent/worker/retire.h"
#include <stddef.h>

/* --- the lists --- */

/* As many as a list can hold: where other threads go on filling one, a look at it has an end. */
static uint64_t most_slots(const haft_table *table)
{
    return table->slots.limit - HAFT_FIRST_INDEX;
}

/* A batch of slots from a list, or NULL. */
static struct batch *take_list(haft_worker *worker, enum list_kind kind)
{
    struct batch *batch;

    if (list_is_empty(worker->table, kind)) {
        return NULL;
    }
    batch = exchange_take_empty(worker);
    if (list_take(worker->table, kind, batch, worker->table->batch_max) == 0) {
        exchange_give_empty(worker, batch);
        return NULL;
    }
    return batch;
}

/* All of them: with a bound, threads that free more between two looks would fill the table. */
void drain_freed(haft_worker *worker)
{
    const uint64_t most = most_slots(worker->table);
    uint64_t taken = 0;
    struct batch *batch;

    while (taken < most && (batch = take_list(worker, LIST_FREED)) != NULL) {
        taken += batch->count;
        retire_batch(worker, batch);
    }
    retire_hand_over(worker); /* while it is in transit */
}

struct batch *drain_unpinned(haft_worker *worker)
{
    return take_list(worker, LIST_UNPINNED);
}

void drain_lists(haft_worker *worker)
{
    const bool has_begun = transit_begin(worker);
    struct batch *batch;

    drain_freed(worker);
    /* Each may unpin the next one of a chain. */
    for (int i = 0; i < UNPINNED_MOST && (batch = drain_unpinned(worker)) != NULL; i++) {
        reclaim_batch(worker, batch);
    }
    transit_end(worker, has_begun);
}

bool drain_all_lists(haft_worker *worker)
{
    /* Slots of a chain come one at a time. */
    const uint64_t most = most_slots(worker->table);
    uint64_t looks = 0;

    while (looks < most && lists_have_slots(worker->table)) {
        drain_lists(worker);
        looks++;
    }
    return looks != 0;
}

void sweep_elapsed(haft_worker *worker)
{
    const uint64_t done = domain_done(worker->table->domain);
    struct batch *batch;

    const bool has_begun = transit_begin(worker);

    drain_all_lists(worker);
    while ((batch = exchange_find_elapsed(worker, done)) != NULL) {
        reclaim_batch(worker, batch);
    }
    transit_end(worker, has_begun);
}

/* --- at quiescent points --- */

/* Reclaim some slots that have elapsed.  True: no others are. */
static bool reclaim_some(haft_worker *worker, uint64_t done)
{
    const bool own_alone = worker->table->never_waits;
    uint64_t taken = 0;

    while (taken < RECLAIMED_SLOTS) {
        struct batch *batch =
            own_alone ? exchange_take_elapsed(worker, done) : exchange_find_elapsed(worker, done);

        if (batch == NULL) {
            return !own_alone;
        }
        taken += batch->count;
        reclaim_batch(worker, batch);
    }
    return false;
}

/* No batch has elapsed, and the highest ticket handed over is done. */
static void clear_handed(haft_worker *worker, uint64_t handed, uint64_t done)
{
    if (!handed_clear(worker->table, handed)) {
        return;
    }
    struct batch *batch = exchange_find_elapsed(worker, done);

    if (batch != NULL) {
        handed_raise(worker->table, handed); /* there may be more */
        reclaim_batch(worker, batch);
    }
}

void sweep_handed(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t handed = load_relaxed(HINT, &table->handed);
    const uint64_t done = handed != 0 ? domain_done(table->domain) : 0;

    /* A batch pushed since under a ticket that was done is found when the word's is done. */
    if (handed == 0 || (done < handed && done == worker->swept)) {
        return;
    }
    const bool has_begun = transit_begin(worker);

    if (reclaim_some(worker, done)) {
        worker->swept = done;
        if (done >= handed) {
            clear_handed(worker, handed, done);
        }
    }
    transit_end(worker, has_begun);
}

/* The slots in the table's lists, as searches and duties collect them. */
#include "concurrent/table/gather.h"
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/tickets.h"
#include "concurrent/table/handed.h"
#include "concurrent/table/lists.h"
#include "concurrent/table/retire.h"
#include "concurrent/table/shelf.h"
#include <stddef.h>

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
    batch = shelf_empty_batch(worker);
    if (list_take(worker->table, kind, batch, worker->table->batch_max) == 0) {
        shelf_give_batch(worker, batch);
        return NULL;
    }
    return batch;
}

/* All of them: with a bound, threads that free more between two looks would fill the table. */
void gather_freed(haft_worker *worker)
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

struct batch *gather_unpinned(haft_worker *worker)
{
    return take_list(worker, LIST_UNPINNED);
}

void gather_lists(haft_worker *worker)
{
    const bool has_begun = transit_begin(worker);
    struct batch *batch;

    gather_freed(worker);
    /* Each may unpin the next one of a chain. */
    for (int i = 0; i < UNPINNED_MOST && (batch = gather_unpinned(worker)) != NULL; i++) {
        reclaim_batch(worker, batch);
    }
    transit_end(worker, has_begun);
}

bool gather_all_lists(haft_worker *worker)
{
    /* Slots of a chain come one at a time. */
    const uint64_t most = most_slots(worker->table);
    uint64_t looks = 0;

    while (looks < most && lists_have_slots(worker->table)) {
        gather_lists(worker);
        looks++;
    }
    return looks != 0;
}

void gather_all_due(haft_worker *worker)
{
    const uint64_t done = domain_done(worker->table->domain);
    struct batch *batch;

    const bool has_begun = transit_begin(worker);

    gather_all_lists(worker);
    while ((batch = shelf_find_due(worker, done)) != NULL) {
        reclaim_batch(worker, batch);
    }
    transit_end(worker, has_begun);
}

/*
 * The way out: free and abort, and closing the batches they fill.
 *
 * Edges in this file.
 *   OWN     only this worker has the batch
 */
#include "concurrent/table/retire.h"
#include "concurrent/clock/tickets.h"
#include "concurrent/table/debug.h"
#include "concurrent/table/life.h"
#include "concurrent/table/shelf.h"
#include "lib/slots/diagnose.h"
#include <haft/detail/table_front.h>

static void remember(struct backlog *backlog, uint64_t ticket)
{
    if (backlog->next - backlog->first == CLOSINGS) {
        backlog->first++; /* its slots count with the next closing's, so as not done */
    }
    backlog->closings[backlog->next % CLOSINGS] = (struct closing){ticket, backlog->retired};
    backlog->next++;
}

void retire_batch(haft_worker *worker, struct batch *batch)
{
    /* Only now: the ticket stands for every free in the batch. */
    const uint64_t ticket = domain_ticket(worker->table->domain);

    store_relaxed(OWN, &batch->ticket, ticket);
    worker->backlog.retired += batch->count;
    remember(&worker->backlog, ticket);
    shelf_wait(worker, batch);
}

void retire_open(haft_worker *worker)
{
    struct batch *batch = worker->open;

    if (batch->count != 0) {
        worker->open = shelf_empty_batch(worker);
        retire_batch(worker, batch);
    }
}

void retire_hand_on(haft_worker *worker)
{
    struct batch *filling = worker->filling;

    retire_open(worker);
    if (filling->count != 0) {
        worker->filling = shelf_empty_batch(worker);
        shelf_ready(worker, filling);
    }
}

/*
 * The rare steps of a free: the open batch is full, or the table counts its objects one by one, or
 * keeps allocation sites.  Not inlined: it would cost haft_free a stack frame.
 */
static __attribute__((noinline)) void look_further(haft_worker *worker, const void *caller)
{
    haft_table *table = worker->table;
    const struct batch *open = worker->open;
    const uint64_t index = open->indices[open->count - 1];

    sites_note_death(&table->slots.sites, index, caller);
    life_uncount(table, index);
    if (open->count >= worker->batch_limit) {
        retire_open(worker);
    }
}

/* Slot `index`, whose life has ended, goes into the open batch.  True: look_further(). */
static inline bool retire(haft_worker *worker, uint64_t index)
{
    struct batch *batch = worker->open;

    batch->indices[batch->count++] = (uint32_t)index;
    return batch->count >= worker->look_at;
}

haft_status worker_refusal(haft_worker *worker, haft_id id)
{
    const haft_status status = slots_diagnose(&worker->table->slots, id);

    count_up(&worker->counters.refused_frees, 1);
    return status == HAFT_OK ? HAFT_RESERVED : status; /* published since */
}

static inline haft_status end_life(haft_worker *worker, haft_id id, bool *looks)
{
    const haft_status status = worker_end_life(worker, id);

    *looks = false;
    if (status == HAFT_OK) {
        *looks = retire(worker, id.bits & worker->table->slots.view.mask);
    }
    return status;
}

/* What is not done in place.  Not inlined: it would cost haft_free a stack frame. */
static __attribute__((noinline)) haft_status free_called(haft_worker *worker, haft_id id,
                                                         const void *caller)
{
    bool looks;
    const haft_status status = end_life(worker, id, &looks);

    if (looks) {
        look_further(worker, caller);
    }
    return status;
}

haft_status haft_free(haft_worker *worker, haft_id id)
{
    debug_check(worker);
    const haft_table *table = worker->table;

    if (haft_worker_front_free(worker, table->slots.view, table->last_life, id)) {
        return HAFT_OK;
    }
    return free_called(worker, id, CALLER);
}

void worker_abort(haft_worker *worker, haft_id id, const void *caller)
{
    haft_table *table = worker->table;
    const uint64_t index = word_index(&table->slots.format, id.bits);

    count_up(&worker->counters.aborted, 1);
    if (!life_give_up(&table->slots, id)) {
        sites_note_death(&table->slots.sites, index, caller);
        count_up(&worker->counters.reclaimed, 1);
        count_up(&worker->counters.exhausted, 1);
        life_uncount(table, index);
    } else if (retire(worker, index)) {
        look_further(worker, caller);
    }
}

void haft_abort(haft_worker *worker, haft_id id)
{
    debug_check(worker);

    worker_abort(worker, id, CALLER);
}

/*
 * The way out: free and abort, and closing the batches they fill.
 *
 * Edges in this file.
 *   OWN     only this worker has the batch, and a slot that it reserved
 *   COUNT   counters of all callers of haft_table_free(); the slots travel through the list
 */
#include "concurrent/worker/retire.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/worker/budget.h"
#include "concurrent/worker/exchange.h"
#include "concurrent/worker/handed.h"
#include "concurrent/worker/life.h"
#include "concurrent/worker/lists.h"
#include "concurrent/worker/worker_list.h"
#include "lib/base/compiler.h"
#include "lib/slots/diagnose.h"
#include <assert.h>

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
    if (!exchange_put_waiting(worker, batch)) {
        retire_hand_over(worker); /* batches that were handed over are behind it now, perhaps */
    }
}

void retire_hand_over(haft_worker *worker)
{
    struct backlog *backlog = &worker->backlog;

    if (backlog->handed != backlog->retired && worker->table->reclaims_by_slot) {
        backlog->handed = backlog->retired;
        handed_raise(worker->table, backlog->closings[(backlog->next - 1) % CLOSINGS].ticket);
        domain_handed(worker->table->domain);
    }
}

void retire_open(haft_worker *worker)
{
    if (open_batch_count(worker) != 0) {
        struct batch *batch = open_batch_detach(worker);

        open_batch_set(worker, exchange_take_empty(worker));
        retire_batch(worker, batch);
    }
}

void retire_flush(haft_worker *worker)
{
    retire_open(worker);
    if (filling_count(worker) != 0) {
        struct batch *batch = filling_detach(worker);

        filling_set(worker, exchange_take_empty(worker));
        exchange_put_ready(worker, batch);
    }
}

/*
 * The rare steps of a free: the open batch is full, or the table counts its objects one by one, or
 * keeps allocation sites.  Not inlined: it would cost haft_abort a stack frame.
 */
static NOINLINE void look_further(haft_worker *worker, uint64_t index, const void *caller)
{
    haft_table *table = worker->table;

    sites_note_death(&table->slots.sites, index, caller);
    if (open_batch_count(worker) < worker->batch_limit) {
        return;
    }
    budget_draw(worker);
    if (open_batch_count(worker) >= worker->batch_limit) {
        retire_open(worker);
    }
}

/* The answer of a free to an id that was not live when it looked. */
static haft_status why_not(const haft_table *table, haft_id id)
{
    const haft_status status = slots_diagnose(&table->slots, id);

    return status == HAFT_OK ? HAFT_RESERVED : status; /* published since */
}

/* Not inlined: it would cost haft_free a stack frame. */
NOINLINE haft_status worker_free(haft_worker *worker, haft_id id, const void *caller)
{
    const struct slots *slots = &worker->table->slots;
    const uint64_t index = id.bits & slots->view.mask;
    uint64_t next;

    if (!life_end(slots, id, &next)) {
        count_up(&worker->counters.refused_frees, 1);
        return why_not(worker->table, id);
    }
    if (word_generation(&slots->format, next) == 0) {
        worker->open->has_last_lives = true;
    }
    if (open_batch_add_freed(worker, index)) {
        look_further(worker, index, caller);
    }
    return HAFT_OK;
}

haft_status haft_free(haft_worker *worker, haft_id id)
{
    debug_check(worker);

    if (haft_worker_front_free(worker, worker->view, front_last_life(worker), id)) {
        return HAFT_OK;
    }
    return worker_free(worker, id, CALLER);
}

haft_status haft_table_free(haft_table *table, haft_id id)
{
    const uint64_t index = id.bits & table->slots.view.mask;
    uint64_t next;

    if (!life_end(&table->slots, id, &next)) {
        fetch_add_relaxed(COUNT, &table->counters.refused_frees, 1);
        return why_not(table, id);
    }
    sites_note_death(&table->slots.sites, index, CALLER);
    fetch_add_relaxed(COUNT, &table->counters.freed, 1);
    callback_note_free();
    list_push(table, LIST_FREED, index);
    return HAFT_OK;
}

NOINLINE void worker_abort(haft_worker *worker, haft_id id, const void *caller)
{
    haft_table *table = worker->table;
    const uint64_t index = word_index(&table->slots.format, id.bits);

    count_up(&worker->counters.aborted, 1);
    if (!life_give_up(&table->slots, id)) {
        sites_note_death(&table->slots.sites, index, caller);
        count_up(&worker->counters.reclaimed, 1);
        tally(&worker->counters.exhausted, 1);
    } else if (open_batch_add_aborted(worker, index)) {
        look_further(worker, index, caller);
    }
}

/* In place, as haft_worker_front_free(): not a last life, and no more to do than for the slot. */
static inline void abort_here(haft_worker *worker, haft_id id, const void *caller)
{
    const uint64_t index = id.bits & worker->view.mask;
    atomic_u64 *word = (atomic_u64 *)(void *)(worker->view.base + index * worker->view.stride);

    assert(life_is_reserved(&worker->table->slots, id) && "an id is reserved, and given up once");
    count_up(&worker->counters.aborted, 1);
    store_relaxed(OWN, word, id.bits - index - worker->above_index + MARK_END);
    if (open_batch_add_aborted(worker, index)) {
        look_further(worker, index, caller);
    }
}

void haft_abort(haft_worker *worker, haft_id id)
{
    debug_check(worker);

    if (id.bits < front_last_life(worker)) {
        abort_here(worker, id, CALLER);
    } else {
        worker_abort(worker, id, CALLER);
    }
}

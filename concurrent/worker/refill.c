/*
 * The sources of a table, in the order in which a refill asks them for slots:
 *
 *   1. inside a callback: the slots that its thread has reclaimed so far
 *   2. the worker's own ready batches, then the depot's
 *   3. the worker's own batches that have elapsed, then the depot's
 *   4. the lists: slots of haft_table_free(), and unpinned ones
 *   5. a former local table's free slots, then fresh ones
 *   6. the ready batches of other workers, then their elapsed ones
 *
 * ask_sources() asks those that the table's options call for.
 *
 * Inside a callback, tables with on_reclaim leave elapsed batches alone.
 *
 * Bound (waiting_bytes): fresh slots come only while those in use that hold no object, and those
 * that other refills ask for, leave room.  A refill asks first, then it counts: of two at once,
 * the later one sees the earlier one's slots, or that it asks for them.  So no more slots are ever
 * used than the most that held objects at a time, and the bound.
 *
 * No callback runs within a round.  A source that finds a batch with callbacks to run detaches it,
 * which ends the round: the refill reclaims the batch, and begins anew.
 *
 * Edges in this file.
 *   HINT     allocation failure: other workers flush their slots sooner or later
 *   ASK      use_bounded (release) -> use_bounded (acquire)   slots in use before the refill that
 *            drew them no longer asks for them
 */
#include "concurrent/worker/refill.h"
#include "concurrent/batches/batch.h"
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/clock/stall.h"
#include "concurrent/worker/budget.h"
#include "concurrent/worker/descriptors.h"
#include "concurrent/worker/exchange.h"
#include "concurrent/worker/fresh.h"
#include "concurrent/worker/full_or_busy.h"
#include "concurrent/worker/handed.h"
#include "concurrent/worker/lists.h"
#include "concurrent/worker/reclaim.h"
#include "concurrent/worker/retire.h"
#include "concurrent/worker/sweep.h"
#include "concurrent/worker/worker_batches.h"
#include "concurrent/worker/worker_list.h"
#include <assert.h>
#include <stddef.h>

/* A refill, and what its sources answer besides slots. */
struct refill {
    struct batch *detached; /* to be reclaimed before the next round; NULL: none */
    haft_status status;     /* why there are no fresh slots */
    bool has_begun;         /* a source has asked for elapsed batches */
    unsigned unpinned;      /* batches of unpinned slots detached */
    uint64_t done;          /* then: the highest ticket done when a source first asked */
};

/* --- batches that are ready --- */

/* Flush the slots of the filling batch beyond the batch limit. */
static void flush_rest(haft_worker *worker)
{
    if (filling_count(worker) > worker->batch_limit) {
        struct batch *filling = filling_detach(worker);
        struct batch *rest = exchange_take_empty(worker);

        batch_move(rest, filling, filling->count - worker->batch_limit);
        filling_set(worker, filling);
        exchange_put_ready(worker, rest);
    }
}

/* The worker uses the slots of a ready batch next; false: there is none, or it is empty. */
static bool use(haft_worker *worker, struct batch *batch)
{
    if (batch == NULL) {
        return false;
    }
    if (batch->count == 0) {
        exchange_give_empty(worker, batch);
        return false;
    }
    assert(batch != worker->filling && batch->count <= BATCH_SLOTS);
    exchange_give_empty(worker, worker->filling);
    filling_set(worker, batch);
    flush_rest(worker);
    return true;
}

/* Inside a callback: the slots that its thread has reclaimed so far. */
static bool use_destination(haft_worker *worker)
{
    struct batch *destination = reclaim_destination(worker->table);

    if (destination == NULL) {
        return false;
    }
    batch_move(worker->filling, destination, worker->batch_limit);
    filling_set(worker, worker->filling);
    return true;
}

/* --- batches that have elapsed --- */

/* The refill reclaims what has elapsed when it first asks. */
static uint64_t done_of(haft_worker *worker, struct refill *refill)
{
    if (!refill->has_begun) {
        refill->done = domain_done(worker->table->domain);
        refill->has_begun = true;
    }
    return refill->done;
}

/* exchange_take_elapsed or exchange_steal_elapsed. */
typedef struct batch *elapsed_taker(haft_worker *worker, uint64_t done);

/* The round ends with this batch, to be reclaimed; false: NULL. */
static bool detach(struct refill *refill, struct batch *batch)
{
    refill->detached = batch;
    return batch != NULL;
}

/* Elapsed batches until one of them has slots; with on_reclaim, the first one. */
static bool use_elapsed(haft_worker *worker, struct refill *refill, elapsed_taker *take)
{
    struct batch *batch;

    if (worker->table->on_reclaim != NULL) {
        return !callback_is_running() && detach(refill, take(worker, done_of(worker, refill)));
    }
    const uint64_t done = done_of(worker, refill);

    while ((batch = take(worker, done)) != NULL) {
        reclaim_quietly(worker, batch);
        if (use(worker, batch)) {
            return true;
        }
    }
    return false;
}

/* The list of unpinned slots.  Others may go on unpinning. */
static bool use_unpinned(haft_worker *worker, struct refill *refill)
{
    if (worker->table->on_reclaim != NULL) {
        return !callback_is_running() && refill->unpinned++ < UNPINNED_MOST &&
               detach(refill, drain_unpinned(worker));
    }
    struct batch *batch = drain_unpinned(worker);

    if (batch != NULL) {
        reclaim_quietly(worker, batch);
    }
    return use(worker, batch);
}

/* --- a former local table's free slots, and fresh ones --- */

/* The most slots to draw.  Inside a callback one: the batch reclaimed has slots to come. */
static uint64_t most_to_draw(const haft_worker *worker)
{
    return callback_is_running() ? 1 : worker->batch_limit;
}

static bool use_inherited(haft_worker *worker)
{
    struct batch *batch = worker->filling;

    batch->count = (uint32_t)inherited_take(worker, most_to_draw(worker), batch->indices);
    filling_set(worker, batch);
    return filling_count(worker) != 0;
}

static bool fill_from(haft_worker *worker, uint64_t first, uint64_t count)
{
    struct batch *batch = worker->filling;

    assert(count <= BATCH_SLOTS && batch->count == 0);
    assert(count == 0 || first >= HAFT_FIRST_INDEX);
    for (uint64_t i = 0; i < count; i++) {
        batch->indices[i] = (uint32_t)(first + i);
    }
    batch->count = (uint32_t)count;
    filling_set(worker, batch);
    return count != 0;
}

static bool use_fresh(haft_worker *worker, struct refill *refill)
{
    uint64_t first = 0;
    const uint64_t drawn = fresh_take(worker, most_to_draw(worker), &first, &refill->status);

    return fill_from(worker, first, drawn);
}

/* use_fresh() within the bound on memory that waits. */
static bool use_bounded(haft_worker *worker, struct refill *refill)
{
    haft_table *table = worker->table;
    const uint64_t most = most_to_draw(worker);
    /* Weakened, slots of an earlier refill could count neither as asked for nor as in use. */
    const uint64_t asked = fetch_add_acquire(ASK, &table->drawing, most);
    const uint64_t taken = asked + occupancy_idle(table);
    const uint64_t room = taken < table->waiting_slots ? table->waiting_slots - taken : 0;
    uint64_t drawn = 0;
    uint64_t first = 0;

    refill->status = HAFT_FULL;
    if (room != 0) {
        drawn = fresh_take(worker, most < room ? most : room, &first, &refill->status);
    }
    /* Weakened, the same. */
    fetch_add_release(ASK, &table->drawing, UINT64_C(0) - most);
    return fill_from(worker, first, drawn);
}

/* --- the rounds --- */

/* No slot: ask other workers and the clock to release theirs.  HAFT_BUSY, or `fresh`. */
static haft_status fail_refill(haft_worker *worker, haft_status fresh)
{
    haft_table *table = worker->table;

    retire_open(worker);
    fetch_add_relaxed(HINT, &table->failures, 1);
    domain_hurry(table->domain);
    domain_notice_stall(table->domain);
    return occupancy_why_none(table, worker, fresh);
}

/*
 * One source after the other, until one has found something: the filling batch has slots, or a
 * batch was detached.
 */
static bool ask_sources(haft_worker *worker, struct refill *refill)
{
    const haft_table *table = worker->table;

    refill->detached = NULL;
    refill->status = HAFT_OK;
    if ((table->on_reclaim != NULL && use_destination(worker)) ||
        use(worker, exchange_take_ready(worker)) ||
        use_elapsed(worker, refill, exchange_take_elapsed)) {
        return true;
    }
    drain_freed(worker); /* they take their ticket, for a later refill */
    return (table->slots.has_pins && use_unpinned(worker, refill)) ||
           (table->inherited.local != NULL && use_inherited(worker)) ||
           (table->waiting_bytes == 0 ? use_fresh(worker, refill) : use_bounded(worker, refill)) ||
           use(worker, exchange_steal_ready(worker)) ||
           use_elapsed(worker, refill, exchange_steal_elapsed);
}

/* One round.  HAFT_OK: the filling batch has slots, or a batch was reclaimed: another round. */
static haft_status refill_round(haft_worker *worker, struct refill *refill)
{
    const bool has_begun = transit_begin(worker);
    const bool found = ask_sources(worker, refill);

    if (refill->detached != NULL) {
        reclaim_batch(worker, refill->detached);
    }
    transit_end(worker, has_begun);
    return found ? HAFT_OK : fail_refill(worker, refill->status);
}

/* Until the filling batch has slots: HAFT_OK, or why it has none. */
static haft_status refill_slots(haft_worker *worker)
{
    struct refill refill;
    haft_status status = worker_list_has_ended(worker->table) ? HAFT_CLOSED : HAFT_OK;

    refill.has_begun = false;
    refill.unpinned = 0;
    descriptors_keep_up(worker);
    budget_draw(worker);
    while (status == HAFT_OK && filling_count(worker) == 0) {
        status = refill_round(worker, &refill);
    }
    return status;
}

haft_status refill_if_empty(haft_worker *worker, uint64_t most, uint32_t *count)
{
    const haft_status status = filling_count(worker) == 0 ? refill_slots(worker) : HAFT_OK;

    if (status == HAFT_OK) {
        const uint32_t found = filling_count(worker);

        *count = most < found ? (uint32_t)most : found;
    }
    return status;
}

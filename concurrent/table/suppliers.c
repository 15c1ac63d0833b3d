/*
 * The suppliers of a table, in the order in which a search asks them for slots:
 *
 *   1. inside a callback: the slots that its thread has taken back so far
 *   2. the worker's own ready batches, then the depot's
 *   3. the worker's own batches that are due, then the depot's
 *   4. the lists: slots of haft_table_free(), and unpinned ones
 *   5. a former local table's free slots, then fresh ones
 *   6. the ready batches of other workers, then their due ones
 *
 * A table has only those that its options call for: suppliers_choose().  To add a source of slots,
 * write a supplier and put it into that list; supply.c stays as it is.
 *
 * Inside a callback, tables with on_reclaim leave due batches alone.
 *
 * Bound (waiting_bytes): fresh slots come only while those in use that hold no object, and those
 * that other searches ask for, leave room.  A search asks first, then it counts: of two at once,
 * the later one sees the earlier one's slots, or that it asks for them.  So no more slots are ever
 * used than the most that held objects at a time, and the bound.
 *
 * Edges in this file.
 *   ASK      use_bounded (release) -> use_bounded (acquire)   slots in use before the search that
 *            drew them no longer asks for them
 */
#include "concurrent/table/suppliers.h"
#include "concurrent/batches/batch.h"
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/tickets.h"
#include "concurrent/table/fresh.h"
#include "concurrent/table/gather.h"
#include "concurrent/table/hand.h"
#include "concurrent/table/legacy.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/shelf.h"
#include "concurrent/table/stats.h"
#include <assert.h>
#include <stddef.h>

/* --- batches that are ready --- */

/* Hand on the slots of the filling batch beyond the batch limit. */
static void hand_on_rest(haft_worker *worker)
{
    if (hand_filling_count(worker) > worker->batch_limit) {
        struct batch *filling = hand_filling(worker);
        struct batch *rest = shelf_empty_batch(worker);

        batch_move(rest, filling, filling->count - worker->batch_limit);
        hand_fill(worker, filling);
        shelf_ready(worker, rest);
    }
}

/* The worker uses the slots of a ready batch next; false: there is none, or it is empty. */
static bool use(haft_worker *worker, struct batch *batch)
{
    if (batch == NULL) {
        return false;
    }
    if (batch->count == 0) {
        shelf_give_batch(worker, batch);
        return false;
    }
    assert(batch != worker->filling && batch->count <= BATCH_SLOTS);
    shelf_give_batch(worker, worker->filling);
    hand_fill(worker, batch);
    hand_on_rest(worker);
    return true;
}

/* Inside a callback: the slots that its thread has taken back so far. */
static bool use_destination(haft_worker *worker, struct search *search)
{
    struct batch *destination = reclaim_destination(worker->table);

    (void)search;
    if (destination == NULL) {
        return false;
    }
    batch_move(worker->filling, destination, worker->batch_limit);
    hand_fill(worker, worker->filling);
    return true;
}

static bool use_ready(haft_worker *worker, struct search *search)
{
    (void)search;
    return use(worker, shelf_take_ready(worker));
}

static bool steal_ready(haft_worker *worker, struct search *search)
{
    (void)search;
    return use(worker, shelf_steal_ready(worker));
}

/* --- batches that are due --- */

/* The search takes back what is due when it first asks. */
static uint64_t done_of(haft_worker *worker, struct search *search)
{
    if (!search->has_begun) {
        search->done = domain_done(worker->table->domain);
        search->has_begun = true;
    }
    return search->done;
}

/* A batch that is due, with a ticket up to `done`; NULL: none. */
typedef struct batch *due_taker(haft_worker *worker, uint64_t done);

/* Tables without on_reclaim: take the batch back, and use it.  False: NULL, or no slot is left. */
static bool use_quietly(haft_worker *worker, struct batch *batch)
{
    if (batch == NULL) {
        return false;
    }
    reclaim_quietly(worker, batch);
    return use(worker, batch);
}

/* Due batches until one of them has slots. */
static bool use_first_due(haft_worker *worker, struct search *search, due_taker *take)
{
    const uint64_t done = done_of(worker, search);
    struct batch *batch;

    while ((batch = take(worker, done)) != NULL) {
        if (use_quietly(worker, batch)) {
            return true;
        }
    }
    return false;
}

static bool use_due(haft_worker *worker, struct search *search)
{
    return use_first_due(worker, search, shelf_take_due);
}

static bool steal_due(haft_worker *worker, struct search *search)
{
    return use_first_due(worker, search, shelf_steal_due);
}

/* --- batches that are due, in a table with on_reclaim --- */

static void take_back_due(haft_worker *worker, struct search *search)
{
    reclaim_batch(worker, search->due);
}

/* The round ends with this batch, to be taken back; false: NULL. */
static bool take_out(struct search *search, struct batch *batch)
{
    search->due = batch;
    return batch != NULL;
}

static bool take_first_due_out(haft_worker *worker, struct search *search, due_taker *take)
{
    return !callback_is_running() && take_out(search, take(worker, done_of(worker, search)));
}

static bool take_due_out(haft_worker *worker, struct search *search)
{
    return take_first_due_out(worker, search, shelf_take_due);
}

static bool steal_due_out(haft_worker *worker, struct search *search)
{
    return take_first_due_out(worker, search, shelf_steal_due);
}

/* --- the lists --- */

/* They take their ticket, for a later search. */
static bool collect_freed(haft_worker *worker, struct search *search)
{
    (void)search;
    gather_freed(worker);
    return false;
}

static bool use_unpinned(haft_worker *worker, struct search *search)
{
    (void)search;
    return use_quietly(worker, gather_unpinned(worker));
}

/* Others may go on unpinning. */
static bool take_unpinned_out(haft_worker *worker, struct search *search)
{
    return !callback_is_running() && search->unpinned++ < UNPINNED_MOST &&
           take_out(search, gather_unpinned(worker));
}

/* --- a former local table's free slots, and fresh ones --- */

/* The most slots to draw.  Inside a callback one: the batch taken back has slots to come. */
static uint64_t most_to_draw(const haft_worker *worker)
{
    return callback_is_running() ? 1 : worker->batch_limit;
}

static bool use_legacy(haft_worker *worker, struct search *search)
{
    struct batch *batch = worker->filling;

    (void)search;
    batch->count = (uint32_t)legacy_take(worker, most_to_draw(worker), batch->indices);
    hand_fill(worker, batch);
    return hand_filling_count(worker) != 0;
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
    hand_fill(worker, batch);
    return count != 0;
}

static bool use_fresh(haft_worker *worker, struct search *search)
{
    uint64_t first = 0;
    const uint64_t drawn = fresh_take(worker, most_to_draw(worker), &first, &search->status);

    return fill_from(worker, first, drawn);
}

/* use_fresh() within the bound on memory that waits. */
static bool use_bounded(haft_worker *worker, struct search *search)
{
    haft_table *table = worker->table;
    const uint64_t most = most_to_draw(worker);
    /* Weakened, slots of an earlier search could count neither as asked for nor as in use. */
    const uint64_t asked = fetch_add_acquire(ASK, &table->drawing, most);
    const uint64_t taken = asked + stats_idle(table);
    const uint64_t room = taken < table->waiting_slots ? table->waiting_slots - taken : 0;
    uint64_t drawn = 0;
    uint64_t first = 0;

    search->status = HAFT_FULL;
    if (room != 0) {
        drawn = fresh_take(worker, most < room ? most : room, &first, &search->status);
    }
    /* Weakened, the same. */
    fetch_add_release(ASK, &table->drawing, UINT64_C(0) - most);
    return fill_from(worker, first, drawn);
}

/* --- which of them a table has --- */

void suppliers_choose(haft_table *table)
{
    const bool calls_back = table->on_reclaim != NULL;
    struct suppliers *suppliers = &table->suppliers;
    supplier **next = suppliers->in_order;

    if (calls_back) {
        *next++ = use_destination;
    }
    *next++ = use_ready;
    *next++ = calls_back ? take_due_out : use_due;
    *next++ = collect_freed;
    if (table->slots.has_pins) {
        *next++ = calls_back ? take_unpinned_out : use_unpinned;
    }
    if (table->legacy.local != NULL) {
        *next++ = use_legacy;
    }
    *next++ = table->waiting_bytes == 0 ? use_fresh : use_bounded;
    *next++ = steal_ready;
    *next++ = calls_back ? steal_due_out : steal_due;
    assert(next <= suppliers->in_order + SUPPLIERS_MOST);
    *next = NULL;
    suppliers->take_back = calls_back ? take_back_due : NULL;
}

/*
 * The search for a slot, in one place and in order:
 *
 *   1. inside a callback: the slots that its thread has taken back so far
 *   2. the worker's own ready batches, then the depot's
 *   3. the worker's own batches that are due, then the depot's
 *   4. the lists: slots freed, aborted or unpinned without a worker
 *   5. slots that no worker has had: a local table's free ones, then fresh ones
 *   6. the ready batches of other workers, then their due ones
 *
 * A search runs no callback.  In a table with on_reclaim it takes a due batch out, ends, and starts
 * over when the batch has been taken back.  Inside a callback it leaves due batches alone.  Batches
 * that become due after it has begun are for the next search.
 *
 * Bound (waiting_bytes): fresh slots come only while those in use that hold no object, and those
 * that other searches ask for, leave room.  A search asks first, then it counts: of two at once,
 * the later one sees the earlier one's slots, or that it asks for them.  So no more slots are ever
 * used than the most that held objects at a time, and the bound.
 *
 * Edges in this file.
 *   ASK      take_bounded (release) -> take_bounded (acquire)   slots in use before the search that
 *            drew them no longer asks for them
 *   OWN      only this worker has the batch
 *   HINT     shortage: other workers hand on their slots sooner or later
 */
#include "concurrent/table/supply.h"
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/stall.h"
#include "concurrent/table/door.h"
#include "concurrent/table/fresh.h"
#include "concurrent/table/hand.h"
#include "concurrent/table/legacy.h"
#include "concurrent/table/lists.h"
#include "concurrent/table/retire.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/shelf.h"
#include "concurrent/table/stats.h"

/* The worker uses the slots of a ready batch next; false: the batch is empty. */
static bool use(haft_worker *worker, struct batch *batch)
{
    if (batch == NULL) {
        return false;
    }
    if (batch->count == 0) {
        shelf_give_batch(worker, batch);
        return false;
    }
    shelf_give_batch(worker, worker->filling);
    hand_fill(worker, batch);
    return true;
}

/* Inside a callback: use the slots that its thread has taken back so far. */
static bool use_destination(haft_worker *worker)
{
    struct batch *destination = reclaim_destination(worker->table);

    if (destination == NULL) {
        return false;
    }
    shelf_split(worker->filling, destination, worker->batch_limit);
    hand_fill(worker, worker->filling);
    return true;
}

/* A search, and its results besides slots. */
struct search {
    struct reclaim_call call;
    struct batch *due;  /* to be taken back, before the search starts over */
    haft_status status; /* why there are no fresh slots */
};

/* A batch that is due: use it, or take it back first.  False: go on. */
static bool use_due(haft_worker *worker, struct search *search, struct batch *batch)
{
    if (batch == NULL) {
        return false;
    }
    if (reclaim_calls_back(worker->table)) {
        search->due = batch;
        return true;
    }
    reclaim_quietly(worker, batch);
    return use(worker, batch);
}

/* Whether this search may take due batches out. */
static bool takes_due(const haft_worker *worker)
{
    return !reclaim_calls_back(worker->table) || !callback_is_running();
}

static bool look_at_own(haft_worker *worker, struct search *search)
{
    struct batch *batch;

    if (use_destination(worker) || use(worker, shelf_take_ready(worker))) {
        return true;
    }
    while (takes_due(worker) && (batch = shelf_take_due(worker, search->call.done)) != NULL) {
        if (use_due(worker, search, batch)) {
            return true;
        }
    }
    return false;
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

static void gather_freed(haft_worker *worker)
{
    struct batch *batch = take_list(worker, LIST_FREED);

    if (batch != NULL) {
        retire_batch(worker, batch);
    }
}

/* Slots whose reservation was given up, which no reader ever had an id of. */
static struct batch *take_aborted(haft_worker *worker)
{
    struct batch *batch = take_list(worker, LIST_ABORTED);

    if (batch != NULL) {
        count_up(&worker->counters.reclaimed, batch->count);
        store_relaxed(OWN, &batch->ticket, 0);
    }
    return batch;
}

static bool look_at_lists(haft_worker *worker, struct search *search)
{
    gather_freed(worker);
    return use(worker, take_aborted(worker)) ||
           (takes_due(worker) && use_due(worker, search, take_list(worker, LIST_UNPINNED)));
}

/* fresh_take() within the bound on memory that waits. */
static uint64_t take_bounded(haft_worker *worker, uint64_t most, uint64_t *first,
                             haft_status *status)
{
    haft_table *table = worker->table;
    /* Weakened, slots of an earlier search could count neither as asked for nor as in use. */
    const uint64_t asked = fetch_add_acquire(ASK, &table->drawing, most);
    const uint64_t taken = asked + stats_idle(table);
    const uint64_t room = taken < table->waiting_slots ? table->waiting_slots - taken : 0;

    *status = HAFT_FULL;
    const uint64_t drawn =
        room != 0 ? fresh_take(worker, most < room ? most : room, first, status) : 0;

    /* Weakened, the same. */
    fetch_add_release(ASK, &table->drawing, UINT64_C(0) - most);
    return drawn;
}

/* Fill the empty filling batch with slots that no worker has had, the lowest first. */
static bool use_fresh(haft_worker *worker, struct search *search)
{
    struct batch *batch = worker->filling;
    /* Inside a callback no more than it asks for: the batch it works on has slots to come. */
    const uint64_t most = callback_is_running() ? 1 : worker->batch_limit;
    uint64_t first;
    uint64_t taken = legacy_take(worker, most, batch->indices);

    if (taken == 0) {
        taken = worker->table->waiting_bytes == 0
                    ? fresh_take(worker, most, &first, &search->status)
                    : take_bounded(worker, most, &first, &search->status);
        for (uint64_t i = 0; i < taken; i++) {
            batch->indices[i] = (uint32_t)(first + i);
        }
    }
    batch->count = (uint32_t)taken;
    hand_fill(worker, batch);
    return taken != 0;
}

static bool look_at_others(haft_worker *worker, struct search *search)
{
    struct batch *batch;

    if (use(worker, shelf_steal_ready(worker))) {
        return true;
    }
    while (takes_due(worker) && (batch = shelf_steal_due(worker, search->call.done)) != NULL) {
        if (use_due(worker, search, batch)) {
            return true;
        }
    }
    return false;
}

/* Hand on the slots of the filling batch beyond the batch limit. */
static void keep_share(haft_worker *worker)
{
    if (hand_filling_count(worker) > worker->batch_limit) {
        struct batch *filling = hand_filling(worker);
        struct batch *rest = shelf_empty_batch(worker);

        shelf_split(rest, filling, filling->count - worker->batch_limit);
        hand_fill(worker, filling);
        shelf_ready(worker, rest);
    }
}

/* True: the filling batch has slots, or a batch is due. */
static bool find_slots(haft_worker *worker, struct search *search)
{
    return look_at_own(worker, search) || look_at_lists(worker, search) ||
           use_fresh(worker, search) || look_at_others(worker, search);
}

haft_status supply_shortage(haft_worker *worker, haft_status fresh)
{
    haft_table *table = worker->table;

    retire_open(worker);
    fetch_add_relaxed(HINT, &table->shortage, 1);
    domain_hurry(table->domain);
    domain_notice_stall(table->domain);
    if (callback_is_running() && reclaim_calls_back(table)) {
        reclaim_later(table, worker_state(worker) == WORKER_OPEN ? worker : NULL);
    }
    return stats_shortage(table, worker, fresh);
}

/*
 * One look, with up to `most` units of an exact table.  HAFT_OK: the filling batch has slots, and
 * `*units` search still; or there were callbacks, and it is time to look again.
 */
static haft_status fill(haft_worker *worker, struct search *search, uint64_t most, uint64_t *units)
{
    haft_table *table = worker->table;

    search->due = NULL;
    search->status = HAFT_OK;
    if (table->is_exact) {
        const haft_status status = door_enter(table, most, units);

        if (status != HAFT_OK) {
            return status == HAFT_FULL ? status : supply_shortage(worker, status);
        }
    }
    const bool found = find_slots(worker, search);

    if (found && search->due == NULL) {
        keep_share(worker);
        return HAFT_OK;
    }
    if (table->is_exact) {
        door_settle(table, *units, 0);
        *units = 0;
    }
    if (!found) {
        return supply_shortage(worker, search->status);
    }
    reclaim_batch(worker, &search->call, search->due);
    return HAFT_OK;
}

/* Until the filling batch has slots: HAFT_OK, or why it has none. */
static haft_status search_slots(haft_worker *worker, uint64_t most, uint64_t *units)
{
    struct search search;
    haft_status status = HAFT_OK;

    reclaim_begin(&search.call, worker);
    while (status == HAFT_OK && hand_filling_count(worker) == 0) {
        status = fill(worker, &search, most, units);
    }
    return status;
}

/* Count up to `*count` slots at hand at the door; `units` search already. */
static haft_status pass_door(haft_worker *worker, uint64_t units, uint64_t *count)
{
    haft_table *table = worker->table;

    if (units != 0) {
        *count = *count < units ? *count : units;
        door_settle(table, units, *count);
        return HAFT_OK;
    }
    const haft_status status = door_pass(table, *count, count);

    return status == HAFT_BUSY ? supply_shortage(worker, status) : status;
}

haft_status supply_find(haft_worker *worker, uint64_t most, struct supply *supply)
{
    uint64_t units = 0;
    haft_status status;

    supply->is_new = hand_filling_count(worker) == 0;
    status = supply->is_new ? search_slots(worker, most, &units) : HAFT_OK;
    if (status != HAFT_OK) {
        return status;
    }
    const uint32_t found = hand_filling_count(worker);
    uint64_t count = most < found ? most : found;

    if (worker->table->is_exact) {
        status = pass_door(worker, units, &count);
        if (status != HAFT_OK) {
            return status;
        }
    }
    supply->count = (uint32_t)count;
    return HAFT_OK;
}

void supply_gather(haft_worker *worker, struct reclaim_call *call)
{
    struct batch *batch;

    gather_freed(worker);
    batch = take_aborted(worker);
    if (batch != NULL) {
        shelf_ready(worker, batch);
    }
    /* Each may unpin the next one of a chain. */
    for (int i = 0; i < UNPINNED_MOST && (batch = take_list(worker, LIST_UNPINNED)) != NULL; i++) {
        reclaim_batch(worker, call, batch);
    }
}

bool supply_gather_all(haft_worker *worker, struct reclaim_call *call)
{
    /* Slots that can follow one another: other threads may go on. */
    const uint64_t most = worker->table->slots.limit - HAFT_FIRST_INDEX;
    uint64_t looks = 0;

    while (looks < most && lists_have_slots(worker->table)) {
        supply_gather(worker, call);
        looks++;
    }
    return looks != 0;
}

void supply_take_back(haft_worker *worker)
{
    struct reclaim_call call;
    struct batch *batch;

    reclaim_begin(&call, worker);
    supply_gather_all(worker, &call);
    while ((batch = shelf_find_due(worker, call.done)) != NULL) {
        reclaim_batch(worker, &call, batch);
    }
}

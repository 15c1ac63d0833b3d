/*
 * Clearing and closing a table.
 *
 * First no thread opens a worker any more, then all lives are ended, highest index first: their
 * slots are a list through their words, lowest index first, which is this call's alone.  After one
 * grace period the slots of that list are reclaimed, then all others that waited.  No life begins
 * meanwhile, except where a callback publishes a reservation from before: then lives are ended once
 * more.
 *
 * Other threads may free, pin and unpin.  A free that has ended a life and has not yet put its slot
 * anywhere shows in the counts: the object counts as live, or as retired.
 *
 * In the child of a fork a table of its parent's only gives its memory back: its other threads may
 * have been anywhere, so nothing is waited for, looked at or called.
 *
 * Edges in this file.
 *   OWN     the slot is in this call's list, the batch is this worker's; no other thread uses the
 *           table
 *   HINT    whether anything is attached: a thread that was told of it sees it
 *   RETRY   a first look at a word; life_end decides
 *   COUNT   one number for all lives that were ended; how far slots were drawn: by no worker now
 */
#include "concurrent/table/close.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/table/census.h"
#include "concurrent/table/open.h"
#include "concurrent/table/stats.h"
#include "concurrent/worker/exchange.h"
#include "concurrent/worker/life.h"
#include "concurrent/worker/lists.h"
#include "concurrent/worker/reclaim.h"
#include "concurrent/worker/retire.h"
#include "concurrent/worker/sweep.h"
#include "concurrent/worker/worker.h"
#include "concurrent/worker/worker_list.h"
#include "lib/local/local.h"
#include "lib/slots/leaks.h"
#include <assert.h>

/* --- what every end of a table checks and reclaims --- */

bool table_has_attached(const haft_table *table)
{
    return load_relaxed(HINT, &table->attached) != 0;
}

/* Whether the calling thread may wait for readers now. */
static haft_status close_check_moment(const haft_table *table)
{
    const haft_status status =
        callback_is_running() ? HAFT_IN_CALLBACK : domain_check_process(table->domain);

    return status == HAFT_OK ? domain_check_moment(table->domain) : status;
}

haft_status close_check_ending(const haft_table *table)
{
    const haft_status status = close_check_moment(table);

    /* Where both are so, a worker that is open is what to tell of. */
    return (status == HAFT_OK || status == HAFT_IN_SECTION) && worker_list_open(table) != 0
               ? HAFT_IN_USE
               : status;
}

bool close_reclaim_waiting(haft_worker *worker, uint64_t latest)
{
    struct batch *batch;

    bool found = drain_all_lists(worker);

    while ((batch = exchange_take_waiting(worker)) != NULL) {
        const uint64_t ticket = load_relaxed(OWN, &batch->ticket);

        domain_wait_for(worker->table->domain, ticket < latest ? ticket : latest);
        reclaim_batch(worker, batch);
        found = true;
    }
    return found;
}

/* --- the lives of all objects end --- */

/* End the life in slot `index`: the slot begins the list.  False: there is none. */
static bool end_life(haft_table *table, uint64_t index, uint64_t *first, const void *caller)
{
    const struct slots *slots = &table->slots;
    atomic_u64 *at = slots_word(slots, index);
    const haft_id id = {load_relaxed(RETRY, at)};
    uint64_t word;

    if (word_index(&slots->format, id.bits) != index || !life_end(slots, id, &word)) {
        return false;
    }
    sites_note_death(&slots->sites, index, caller);
    store_relaxed(OWN, at, word_with_index(&slots->format, word, *first));
    *first = index;
    return true;
}

/* The first slot of the list; MARK_FREE, which ends it: no object was live. */
static uint64_t end_lives(haft_table *table, const void *caller)
{
    uint64_t first = MARK_FREE;
    uint64_t ended = 0;

    for (uint64_t index = load_relaxed(COUNT, &table->fresh); index-- > HAFT_FIRST_INDEX;) {
        ended += end_life(table, index, &first, caller);
    }
    fetch_add_relaxed(COUNT, &table->counters.freed, ended);
    return first;
}

/* Move slots from the list to the empty batch, up to a full one. */
static void take_ended(const haft_table *table, uint64_t *first, struct batch *batch)
{
    const struct slots *slots = &table->slots;

    while (*first != MARK_FREE && batch->count < table->batch_max) {
        atomic_u64 *at = slots_word(slots, *first);
        const uint64_t word = load_relaxed(OWN, at);

        store_relaxed(OWN, at, word_with_index(&slots->format, word, MARK_FREE));
        batch->has_last_lives = batch->has_last_lives || word_generation(&slots->format, word) == 0;
        batch->indices[batch->count++] = (uint32_t)*first;
        *first = word_index(&slots->format, word);
    }
}

static void reclaim_ended(haft_worker *worker, uint64_t first)
{
    while (first != MARK_FREE) {
        struct batch *batch = exchange_take_empty(worker);

        take_ended(worker->table, &first, batch);
        reclaim_batch(worker, batch);
    }
}

/* Whether an object's memory goes without a call when the table does, as no thread asks for it. */
static bool ends_by_itself(const haft_table *table)
{
    return table->on_reclaim == NULL && !table->slots.has_pins;
}

/* Until on_reclaim frees and unpins no more. */
static void reclaim_all_waiting(haft_worker *worker)
{
    do {
        retire_open(worker); /* what callbacks have freed by it */
    } while (close_reclaim_waiting(worker, UINT64_MAX));
}

/* True: some lives were ended, and meanwhile callbacks have published slots reserved before. */
static bool end_objects(haft_worker *worker, bool closes, const void *caller)
{
    haft_table *table = worker->table;
    const uint64_t first = closes && ends_by_itself(table) ? MARK_FREE : end_lives(table, caller);

    if (first != MARK_FREE || stats_stock(table).live != 0 || !list_is_empty(table, LIST_FREED)) {
        domain_wait_for(table->domain, domain_ticket(table->domain));
    }
    reclaim_ended(worker, first);
    reclaim_all_waiting(worker);
    return first != MARK_FREE && stats_stock(table).live != 0;
}

/* --- clearing --- */

/* All lives are ended, no free is under way, and no pin keeps an object. */
static bool is_clear(const haft_table *table)
{
    const struct stock stock = stats_stock(table);

    return stock.live == 0 && stock.retired == 0;
}

/* A table without workers never had an object. */
static haft_status clear_table(haft_table *table, bool closes, const void *caller)
{
    if (!worker_list_end(table)) {
        return HAFT_IN_USE;
    }
    haft_worker *worker = worker_list_first(table) != NULL ? worker_borrow(table) : NULL;

    if (worker == NULL) {
        return worker_list_first(table) != NULL ? HAFT_IN_USE : HAFT_OK;
    }
    leaks_report(&table->slots, table->name, load_relaxed(COUNT, &table->fresh));
    while (end_objects(worker, closes, caller)) {
        /* reservations get fewer: none begins */
    }
    worker_return(worker);
    return (closes && ends_by_itself(table)) || is_clear(table) ? HAFT_OK : HAFT_IN_USE;
}

haft_status haft_table_clear(haft_table *table)
{
    const haft_status status = close_check_moment(table);

    return status == HAFT_OK ? clear_table(table, false, CALLER) : status;
}

/* --- closing --- */

static void end_memory(haft_table *table)
{
    haft_local *former = table->inherited.local;

    table_stop(table);
    slots_unpoison_all(&table->slots, load_relaxed(OWN, &table->fresh));
    slots_close(&table->slots);
    local_free(former);
    table_free(table);
}

static haft_status close_parents(haft_table *table)
{
    haft_status status = domain_check_moment(table->domain);
    const bool is_in_use = table_has_attached(table) || worker_list_open(table) != 0;

    status = status == HAFT_OK && is_in_use ? HAFT_IN_USE : status;
    if (status == HAFT_OK) {
        end_memory(table);
    }
    return status;
}

haft_status haft_table_close(haft_table *table)
{
    if (domain_check_process(table->domain) != HAFT_OK) {
        return close_parents(table);
    }
    haft_status status = close_check_ending(table);

    status = status == HAFT_OK ? clear_table(table, true, CALLER) : status;
    status = status == HAFT_OK && table_has_attached(table) ? HAFT_IN_USE : status;
    if (status == HAFT_OK) {
        assert(census_is_right(table));
        end_memory(table);
    }
    return status;
}

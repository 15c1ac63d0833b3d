/*
 * Handing a shared table's slots back to a local one.
 *
 * First passes reclaim all freed slots, until a pass finds none: a callback may free and unpin
 * meanwhile.
 *
 * Edges in this file.
 *   OWN     no other thread uses the table
 */
#include "lib/slots/object.h"
#include <haft/share.h>

#include "concurrent/clock/domain.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/table/census.h"
#include "concurrent/table/close.h"
#include "concurrent/table/open.h"
#include "concurrent/worker/life.h"
#include "concurrent/worker/lists.h"
#include "concurrent/worker/retire.h"
#include "concurrent/worker/worker.h"
#include "concurrent/worker/worker_list.h"
#include "lib/local/local.h"
#include "lib/local/local_list.h"
#include <assert.h>
#include <haft/diagnose.h>

/* --- no thread has a slot --- */

/*
 * Until no reader has an object that lives, or is in the list of freed ones: these have no ticket.
 * Objects that were aborted, or reclaimed up to a pin, have no readers.
 */
static void wait_for_readers(haft_table *table)
{
    if (haft_table_stats_get(table).live != 0 || !list_is_empty(table, LIST_FREED)) {
        domain_wait_for(table->domain, domain_ticket(table->domain));
    }
}

/*
 * Callbacks may free and unpin meanwhile, so a pass that found something is not the last one.  What
 * they free in a pass needs no wait: no other thread uses the table, and none has resolved since
 * the pass began.  The tickets of other tables hold nothing up here.
 */
static void run_passes(haft_worker *worker)
{
    haft_table *table = worker->table;

    do {
        retire_flush(worker);
        wait_for_readers(table);
    } while (close_reclaim_waiting(worker, domain_requested(table->domain)) &&
             table->on_reclaim != NULL);
}

/* By a closed worker: all are.  A table without workers never had an object. */
static void reclaim_table(haft_table *table)
{
    if (worker_list_first(table) != NULL) {
        haft_worker *worker = worker_borrow(table);

        assert(worker != NULL && "one of its workers is closed");
        run_passes(worker);
        worker_return(worker);
    }
}

static bool has_pins(const haft_table *table)
{
    const struct slots *slots = &table->slots;
    const uint64_t end = load_relaxed(OWN, &table->fresh);

    for (uint64_t index = HAFT_FIRST_INDEX; slots->has_pins && index < end; index++) {
        const atomic_u64 *pins = slots_pins(slots, slots_word(slots, index));

        if ((load_relaxed(OWN, pins) & PIN_COUNT) != 0) {
            return true;
        }
    }
    return false;
}

/* Callbacks may have opened workers. */
static haft_status try_to_drain(haft_table *table)
{
    reclaim_table(table);
    return has_pins(table) || table_has_attached(table) || worker_list_open(table) != 0
               ? HAFT_IN_USE
               : HAFT_OK;
}

/*
 * Bring a table in which no worker is open to the state in which its slots can be handed over: no
 * reader has a pointer, all freed slots are reclaimed.  HAFT_OK; or why not, and it can be used as
 * before.
 */
static haft_status drain_table(haft_table *table)
{
    haft_status status = close_check_ending(table);

    if (status != HAFT_OK) {
        return status;
    }
    status = try_to_drain(table);
    assert(status != HAFT_OK || census_is_right(table));
    assert(status != HAFT_OK || haft_table_stats_get(table).retired == 0);
    return status;
}

/* --- the local table --- */

_Static_assert(sizeof(haft_local) <= sizeof(haft_table), "a local table fits where a shared was");

/*
 * A local table in the block of the shared one, which has been stopped.  It allocates nothing:
 * haft::table closes this way, also in a program that is out of memory.
 */
static haft_local *local_in_block_of(haft_table *table)
{
    const uint64_t capacity = table->capacity;
    const bool wraps = table->slots.wrapped;
    haft_local *local = local_make_in(table, false, table->name);

    local->capacity = capacity;
    local->wraps = wraps;
    return local;
}

/* End the shared table, and give its slots to its former local table, or else to a new one. */
static haft_local *replace_by_local(haft_table *table)
{
    const struct slots slots = table->slots;
    const uint64_t used = load_relaxed(OWN, &table->fresh);
    haft_local *local = table->inherited.local;

    table_stop(table);
    if (local != NULL) {
        table_free(table);
    } else {
        local = local_in_block_of(table);
    }
    local->slots = slots;
    local->used = used;
    return local;
}

/* Count the slots in use below `used`; retired slots, whose callback has run, become free. */
static void take_stock(haft_local *local)
{
    const struct word_format *format = &local->slots.format;

    local->front.count = 0;
    local->held = local->exhausted = 0;
    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        atomic_u64 *at = slots_word(&local->slots, index);
        uint64_t word = load_relaxed(OWN, at);

        if (word_index(format, word) == MARK_FREE) {
            word = life_after(&local->slots, word);
            slots_poison(&local->slots, at);
            store_relaxed(OWN, at, word);
        }
        local->front.count += word_index(format, word) == index;
        local->held += word_index(format, word) == MARK_RESERVED;
        local->exhausted += word_index(format, word) == MARK_EXHAUSTED;
    }
}

/* Room for the slots that are taken or exhausted, and then for `min_free` slots, if they fit. */
static void fit_capacity(haft_local *local)
{
    const uint64_t taken = local->front.count + local->held + local->exhausted;
    const uint64_t slots = local->slots.limit - HAFT_FIRST_INDEX;

    if (local->capacity < taken) {
        local->capacity = taken;
    }
    if (local->min_free > slots - local->capacity) {
        local->min_free = slots - local->capacity;
    }
    local->is_crowded = local_crowds(local);
}

haft_status haft_unshare(haft_table *table, haft_local **local)
{
    const haft_status status = drain_table(table);

    if (status != HAFT_OK) {
        return status;
    }
    haft_local *opened = replace_by_local(table);

    take_stock(opened);
    fit_capacity(opened);
    local_rebuild(opened);
    *local = opened;
    return HAFT_OK;
}

/*
 * Slots that no thread leads to any more, after a fork.
 *
 * The threads that are gone may have been anywhere: with a batch in hand, in the middle of a push,
 * inside on_reclaim.  Of all that leads to free slots, the child believes only the words of the
 * slots, the extents, the lists through the words, and the list of released runs: each of these
 * changes in one step.  All rings, depots, batches and descriptors begin anew, and each slot that
 * is neither live, reserved, exhausted, pinned nor fresh goes into a new batch: ready if it had
 * been taken back or was never used, else under a new ticket.
 *
 * An on_reclaim that had begun on a thread that is gone does not begin again.  Nor does one begin
 * for a slot that such a thread was moving into or out of a list: its link hides the mark.
 *
 * Edges in this file.
 *   OWN   the process has one thread
 */
#include "concurrent/extra/orphans.h"
#include "concurrent/batches/pool.h"
#include "concurrent/batches/tagged.h"
#include "concurrent/table/budget.h"
#include "concurrent/table/fresh.h"
#include "concurrent/table/hand.h"
#include "concurrent/table/life.h"
#include "concurrent/table/lists.h"
#include "concurrent/table/released.h"
#include "concurrent/table/retire.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/shelf.h"
#include "concurrent/table/stats.h"
#include "lib/base/asan.h"
#include "lib/slots/object.h"
#include <string.h>

struct orphans {
    haft_table *table;
    haft_worker *worker; /* whose rings the batches go to */
    struct batch *ready;
    struct batch *waiting;
    struct stock stock;
    uint64_t known_to; /* below, slots from the one looked at on are fresh, or are not */
    bool is_fresh;
};

/* --- the state that the other threads left --- */

/* A callback had begun for `id`: its slot is as good as taken back. */
static void forget_callback(const haft_table *table, uint64_t id)
{
    const struct word_format *format = &table->slots.format;
    const uint64_t index = word_index(format, id);
    atomic_u64 *at = slots_word(&table->slots, index);
    const uint64_t word = load_relaxed(OWN, at);

    /* Another thread may have used the slot since. */
    if (id != 0 && word_index(format, word) == MARK_FREE &&
        word_last_life(format, word, index).bits == id) {
        store_relaxed(OWN, at, life_after(&table->slots, word));
    }
}

static void reset_worker(haft_worker *worker)
{
    asan_unpoison(worker, sizeof *worker);
    hand_fill(worker, pool_take(&worker->table->pool, &worker->segment));
    hand_open(worker, pool_take(&worker->table->pool, &worker->segment));
    worker->spare_count = 0;
    memset(&worker->backlog, 0, sizeof worker->backlog);
    store_relaxed(OWN, &worker->waiting.head, load_relaxed(OWN, &worker->waiting.tail));
    store_relaxed(OWN, &worker->ready.head, load_relaxed(OWN, &worker->ready.tail));
    forget_callback(worker->table, load_relaxed(OWN, &worker->in_hand));
    store_relaxed(OWN, &worker->in_hand, 0);
    store_relaxed(OWN, &worker->transit, 0);
}

/* Each worker holds nothing, and nothing of the budget if its thread is gone. */
static void reset_workers(haft_table *table)
{
    uint64_t budget = table->budget_size;

    for (haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        reset_worker(worker);
        if (worker_is_own(worker)) {
            budget -= 2 * (uint64_t)(worker->batch_limit - 1);
        } else {
            worker_set_batch_limit(worker, 1);
        }
    }
    store_relaxed(OWN, &table->budget, budget);
    store_relaxed(OWN, &table->drawing, 0);
}

/* Not before the slots have been put: a worker that is closed may not be used. */
static void close_others(const haft_table *table)
{
    for (haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        if (!worker_is_own(worker)) {
            roster_leave(worker);
        }
    }
}

/* The slots of a list, from `index` on, have their mark again. */
static void dissolve(const struct slots *slots, uint64_t index, uint64_t mark)
{
    while (index >= HAFT_FIRST_INDEX && index != NUMBER_NONE) {
        atomic_u64 *at = slots_word(slots, index);
        const uint64_t word = load_relaxed(OWN, at);

        store_relaxed(OWN, at, word_with_index(&slots->format, word, mark));
        index = word_index(&slots->format, word);
    }
}

static void dissolve_lists(haft_table *table)
{
    const struct slots *slots = &table->slots;

    for (int kind = 0; kind < LIST_COUNT; kind++) {
        dissolve(slots, tagged_number(load_relaxed(OWN, &table->lists[kind].head)),
                 list_mark((enum list_kind)kind));
    }
    dissolve(slots, load_relaxed(OWN, &table->legacy.listed), MARK_END);
    lists_open(table);
    store_relaxed(OWN, &table->legacy.listed, MARK_END);
}

#define SEEN (UINT64_C(1) << NUMBER_BITS) /* in the link of a run that is in the list */

/* A run that some thread had taken out of the list, or not put into it, is like any other. */
static void mend_runs(haft_table *table)
{
    const struct runs *runs = &table->slots.runs;
    const uint64_t end = runs_of(runs, load_relaxed(OWN, &table->fresh));
    uint64_t run = tagged_number(load_relaxed(OWN, &table->released.head));
    uint64_t slots = 0;

    if (runs->stay) {
        return;
    }
    while (run != NUMBER_NONE) {
        const uint64_t next = tagged_number(runs_link(runs, run));

        runs_set_link(runs, run, SEEN | next);
        slots += runs_end(runs, run) - runs_first(runs, run);
        run = next;
    }
    for (run = 0; run < end; run++) {
        const uint64_t link = runs_link(runs, run);
        const uint64_t next = tagged_number(link);

        if (link - next == SEEN) {
            runs_set_link(runs, run, next == NUMBER_NONE ? RUN_LAST : next);
        } else if (link != RUN_IN_USE) {
            runs_set_link(runs, run, RUN_IN_USE);
        }
    }
    store_relaxed(OWN, &table->released.slots, slots);
}

/* --- the slots --- */

/* Whether slot `index` is in an extent; up to `*until` the answer is the same. */
static bool is_in_extent(const haft_table *table, uint64_t index, uint64_t *until)
{
    *until = UINT64_MAX;
    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        const haft_range range = fresh_range(worker);

        if (range.from <= index && index < range.to) {
            *until = range.to;
            return true;
        }
        if (index < range.from && range.from < range.to && range.from < *until) {
            *until = range.from;
        }
    }
    return false;
}

/* Whether slot `index`, one after the last that was asked for, is there to be drawn. */
static bool is_fresh(struct orphans *orphans, uint64_t index)
{
    const haft_table *table = orphans->table;
    const uint64_t run = runs_of(&table->slots.runs, index);

    if (index >= orphans->known_to) {
        orphans->is_fresh = is_in_extent(table, index, &orphans->known_to);
    }
    return orphans->is_fresh || released_has(table, run);
}

static void put_ready(struct orphans *orphans, uint64_t index)
{
    struct batch *batch = orphans->ready;

    batch->indices[batch->count++] = (uint32_t)index;
    if (batch->count == orphans->table->batch_max) {
        orphans->ready = shelf_empty_batch(orphans->worker);
        shelf_offer(orphans->worker, batch);
    }
}

static void put_waiting(struct orphans *orphans, uint64_t index)
{
    struct batch *batch = orphans->waiting;

    orphans->stock.retired++;
    batch->has_last_lives = true; /* perhaps */
    batch->indices[batch->count++] = (uint32_t)index;
    if (batch->count == orphans->table->batch_max) {
        orphans->waiting = shelf_empty_batch(orphans->worker);
        retire_batch(orphans->worker, batch);
    }
}

/* A freed slot, whose callback has not begun.  A slot that has pins goes nowhere. */
static void put_freed(struct orphans *orphans, uint64_t index, atomic_u64 *at)
{
    const struct slots *slots = &orphans->table->slots;
    const uint64_t pins = slots->has_pins ? load_relaxed(OWN, slots_pins(slots, at)) : 0;

    if (pins > PIN_TAKEN) {
        orphans->stock.retired++;
        return;
    }
    if (pins == PIN_TAKEN) {
        store_relaxed(OWN, slots_pins(slots, at), 0);
    }
    put_waiting(orphans, index);
}

/*
 * A slot that was taken back, or never used: ready.  One with a link in its word may have been
 * freed just before the fork, and the thread that forked may read its object still: it waits.
 */
static void put_free(struct orphans *orphans, uint64_t index, atomic_u64 *at, uint64_t word)
{
    const struct slots *slots = &orphans->table->slots;
    const bool is_linked = word_index(&slots->format, word) >= HAFT_FIRST_INDEX;

    word = life_after(slots, slots_begin_at(slots, index, word));
    if (!is_linked) {
        slots_poison(slots, at);
    }
    store_relaxed(OWN, at, word);
    if (word_index(&slots->format, word) == MARK_EXHAUSTED) {
        orphans->stock.exhausted++;
    } else if (is_linked) {
        put_waiting(orphans, index);
    } else {
        put_ready(orphans, index);
    }
}

/*
 * Whether a slot with a link in its word was on its way into a list of freed slots, or out of it.
 * It may also have been given up, or come from a local table, and has no pins then; where that
 * cannot be told, no callback runs for it.
 */
static bool was_freed(const haft_table *table, atomic_u64 *at)
{
    const bool has_others =
        table->legacy.local != NULL || load_relaxed(OWN, &table->counters.aborted) != 0;

    return !has_others ||
           (table->slots.has_pins && load_relaxed(OWN, slots_pins(&table->slots, at)) != 0);
}

static void look_at(struct orphans *orphans, uint64_t index)
{
    const struct slots *slots = &orphans->table->slots;
    atomic_u64 *at = slots_word(slots, index);
    const uint64_t word = load_relaxed(OWN, at);
    const uint64_t mark = word_index(&slots->format, word);

    if (mark == index) {
        orphans->stock.live++;
    } else if (mark == MARK_RESERVED) {
        orphans->stock.reserved++;
    } else if (mark == MARK_EXHAUSTED) {
        orphans->stock.exhausted++;
    } else if (mark == MARK_FREE) {
        put_freed(orphans, index, at);
    } else if (mark >= HAFT_FIRST_INDEX && was_freed(orphans->table, at)) {
        store_relaxed(OWN, at, word_with_index(&slots->format, word, MARK_FREE));
        put_freed(orphans, index, at);
    } else if (!is_fresh(orphans, index)) {
        put_free(orphans, index, at, word);
    }
}

static void look_at_all(struct orphans *orphans)
{
    const uint64_t end = load_relaxed(OWN, &orphans->table->fresh);

    orphans->ready = shelf_empty_batch(orphans->worker);
    orphans->waiting = shelf_empty_batch(orphans->worker);
    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        look_at(orphans, index);
    }
    shelf_ready(orphans->worker, orphans->ready);
    if (orphans->waiting->count != 0) {
        retire_batch(orphans->worker, orphans->waiting);
    } else {
        shelf_give_batch(orphans->worker, orphans->waiting);
    }
}

/* A worker of the forking thread, whose quiescent points look at its batches; else any. */
static haft_worker *collector(const haft_table *table)
{
    for (haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        if (worker_is_own(worker)) {
            return worker;
        }
    }
    return roster_first(table);
}

void orphans_collect(haft_table *table)
{
    struct orphans orphans = {.table = table, .worker = collector(table)};

    dissolve_lists(table);
    store_relaxed(OWN, &table->collecting, 0);
    mend_runs(table);
    pool_reset(&table->pool);
    reset_workers(table);
    depot_open(&table->waiting, &table->pool);
    depot_open(&table->ready, &table->pool);
    if (orphans.worker != NULL) {
        look_at_all(&orphans);
    }
    close_others(table);
    stats_correct(table, &orphans.stock);
}

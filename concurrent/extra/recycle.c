/*
 * Exhausted slots taken back into use.
 *
 * An exhausted slot is in no batch, and only its word tells of it.  The thread that recycles it
 * takes it by the word, as haft_restore() takes a slot of its range.
 *
 * Edges in this file.
 *   REVIVE  sift, life_give_up (release) -> is_exhausted (acquire)
 *           the last use of the slot's object before its bytes are written, and the values of the
 *           slot's lives before they are cleared
 *           revive (release) -> slots_diagnose (acquire, there PUBLISH)
 *           the flag that ids repeat, before the word: with that alone, an old id would pass for
 *           one never issued
 *   COUNT   how far the table's slots were ever used
 *   HINT    ids repeat from now on: haft_diagnose() tells less
 *   RETRY   a first look; the compare-and-swap decides
 */
#include <haft/memory.h>

#include "concurrent/extra/collect.h"
#include "concurrent/extra/shared_side.h"
#include "concurrent/table/released.h"
#include "concurrent/table/shelf.h"

struct recycling {
    haft_worker *worker;
    struct batch *batch; /* to be filled */
    uint64_t slots;
};

/* Take the slot if it is exhausted: then it is free, and this thread's. */
static bool revive(const struct slots *slots, uint64_t index)
{
    atomic_u64 *at = slots_word(slots, index);
    const uint64_t word = load_relaxed(RETRY, at);

    /* Weakened, an id from before could be said never to have been issued. */
    return word_index(&slots->format, word) == MARK_EXHAUSTED &&
           cas_release(REVIVE, at, word,
                       word_with_index(&slots->format, slots->format.first, MARK_END));
}

static void recycle_slot(struct recycling *recycling, uint64_t index)
{
    haft_worker *worker = recycling->worker;
    haft_table *table = worker->table;

    /* Before any thread has an id of it. */
    store_relaxed(HINT, &table->slots.recycled, 1);
    shared_sides_forget(table, index);
    sites_forget(&table->slots.sites, index, index + 1);
    if (!revive(&table->slots, index)) {
        return;
    }
    recycling->slots++;
    if (index < table->restore_end) {
        count_up(&worker->counters.restore_recycled, 1);
        return;
    }
    count_up(&worker->counters.recycled, 1);
    recycling->batch->indices[recycling->batch->count++] = (uint32_t)index;
    if (recycling->batch->count == table->batch_max) {
        shelf_offer(worker, recycling->batch);
        recycling->batch = shelf_empty_batch(worker);
    }
}

static bool is_exhausted(const haft_table *table, uint64_t index)
{
    const struct slots *slots = &table->slots;

    /* Weakened, the object could be written before the last use of the one before, and a value be
     * set after it was cleared, for an id that is issued again. */
    return word_index(&slots->format, load_acquire(REVIVE, slots_word(slots, index))) ==
           MARK_EXHAUSTED;
}

static void recycle_all(struct recycling *recycling)
{
    const haft_table *table = recycling->worker->table;
    const struct runs *runs = &table->slots.runs;
    const uint64_t end = load_relaxed(COUNT, &table->fresh);

    recycling->batch = shelf_empty_batch(recycling->worker);
    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        if (released_has(table, runs_of(runs, index))) {
            index = runs_end(runs, runs_of(runs, index)) - 1; /* none is in there */
        } else if (is_exhausted(table, index)) {
            recycle_slot(recycling, index);
        }
    }
    shelf_offer(recycling->worker, recycling->batch);
}

haft_status haft_recycle_exhausted(haft_table *table, uint64_t *recycled)
{
    struct recycling recycling = {0};
    const haft_status status = collect_begin(table, &recycling.worker);

    if (status != HAFT_OK) {
        return status;
    }
    recycle_all(&recycling);
    collect_end(recycling.worker);
    if (recycled != NULL) {
        *recycled = recycling.slots;
    }
    return HAFT_OK;
}

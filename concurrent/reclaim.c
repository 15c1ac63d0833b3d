/*
 * The way back: what happens to a slot between its grace period and its next life.
 *
 * Edges in this file.
 *   OWN     this worker has the batch, and so the words of its slots
 */
#include "concurrent/table.h"

/* One retired slot.  False if it is pinned, or has lived its last generation and is out of use. */
static bool reclaim_slot(haft_worker *worker, uint64_t index)
{
    const haft_table *table = worker->table;
    const struct word_format *format = &table->slots.format;
    atomic_u64 *at = slots_word(&table->slots, index);
    const uint64_t word = load_relaxed(OWN, at);

    if (word_index(format, word) != MARK_FREE) {
        return true; /* given up before it was live, or taken back before */
    }
    if (table->slots.has_pins && !pin_take(table, index)) {
        count_up(&worker->counters.reclaimed, UINT64_MAX); /* not yet */
        return false;
    }
    if (table->on_reclaim != NULL) {
        table->on_reclaim(slots_object(at), word_last_life(format, word, index), worker,
                          table->reclaim_arg);
    }
    if (word_generation(format, word) == 0) {
        store_relaxed(OWN, at, word_with_index(format, word, MARK_EXHAUSTED));
        count_up(&worker->counters.exhausted, 1);
        return false;
    }
    store_relaxed(OWN, at, word_with_index(format, word, MARK_END));
    return true;
}

void worker_reclaim(haft_worker *worker, struct batch *batch)
{
    const uint32_t count = batch->count;
    const bool outer = worker->reclaiming;

    count_up(&worker->counters.reclaimed, batch->retired);
    batch->retired = 0;
    if (worker->table->on_reclaim == NULL && !batch->has_last_lives &&
        !worker->table->slots.has_pins) {
        return;
    }
    worker->reclaiming = true;
    batch->has_last_lives = false;
    /* on_reclaim may reserve from the slots taken back so far, so the count may shrink again. */
    batch->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t index = batch->indices[i];

        if (reclaim_slot(worker, index)) {
            batch->indices[batch->count++] = index;
        }
    }
    worker->reclaiming = outer;
}

/*
 * The way back: what happens to a slot between its grace period and its next life.
 *
 * Edges in this file.
 *   REVIVE  reclaim_slot (release) -> haft_restore, haft_recycle_exhausted (acquire)
 *           the object's last use, before the slot is taken by its word alone
 *   OWN     this worker has the batch, and so the words of its slots
 */
#include "concurrent/table/table.h"

/*
 * One retired slot.  False if it goes into no batch: it is pinned, or has lived its last generation
 * and is out of use, or is set aside.
 */
static bool reclaim_slot(haft_worker *worker, uint64_t index)
{
    haft_table *table = worker->table;
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
    const uint64_t next = table->slots.wrapped ? word_wrapped(format, word) : word;
    const bool is_last = word_generation(format, next) == 0;
    const bool is_aside = index < table->restore_end;

    count_up(is_aside ? &worker->counters.worn : &worker->counters.exhausted, is_last);
    if (is_aside) {
        restore_give_back(table);
    }
    slots_rest(&table->slots, at);
    /* Weakened, a restored object could be written before the last use of the one before. */
    store_release(REVIVE, at, word_with_index(format, next, is_last ? MARK_EXHAUSTED : MARK_END));
    return !is_last && !is_aside;
}

void worker_reclaim(haft_worker *worker, struct batch *batch)
{
    const uint32_t count = batch->count;
    const bool outer = worker->reclaiming;

    count_up(&worker->counters.reclaimed, batch->retired);
    batch->retired = 0;
    if (!worker->table->inspects && !batch->has_last_lives) {
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

void worker_take_back(haft_worker *worker, struct batch *batch)
{
    worker_reclaim(worker, batch);
    store_relaxed(OWN, &batch->ticket, 0);
    if (batch->count == 0) {
        worker_give_batch(worker, batch);
    } else {
        worker_shelve(worker, batch);
    }
}

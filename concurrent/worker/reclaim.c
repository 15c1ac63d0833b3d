/*
 * The way back: a slot between its grace period and its next life.
 *
 * A thread reclaims one batch at a time: the source is detached, so no other call finds it, and
 * the slots that survive go into another batch, the destination.  A callback may use any worker
 * meanwhile; it finds the slots of the destination, and never those of the source.
 *
 * Edges in this file.
 *   PIN     haft_unpin (release) -> is_pinned (acquire): the use of the object before the reuse of
 *           its memory; is_pinned (release) -> haft_unpin (acquire): the grace period before it
 *   OWN     this worker has the batch, and so the words of its slots
 */
#include "concurrent/worker/reclaim.h"
#include "concurrent/clock/callback.h"
#include "concurrent/worker/exchange.h"
#include "concurrent/worker/life.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"
#include "lib/slots/object.h"
#include <stddef.h>

/* The batch that the calling thread reclaims. */
static THREAD_LOCAL struct taking {
    const haft_table *table; /* NULL: nothing */
    struct batch *destination;
} taking;

/* Whether pins keep the slot from being reclaimed: then the last unpin puts it into a list. */
static bool is_pinned(const haft_table *table, atomic_u64 *at)
{
    atomic_u64 *pins = slots_pins(&table->slots, at);

    /* Weakened, the slot could be written again before the last use under a pin. */
    if (fetch_or_acq_rel(PIN, pins, PIN_ELAPSED) != 0) {
        return true;
    }
    store_relaxed(OWN, pins, 0);
    return false;
}

static void call_back(haft_worker *worker, uint64_t index, atomic_u64 *at, uint64_t word)
{
    const haft_table *table = worker->table;
    const haft_id id = word_last_life(&table->slots.format, word, index);

    callback_begin();
    table->on_reclaim(slots_object(at), id, worker, table->reclaim_arg);
    callback_end();
}

/* One retired slot.  True if it may be used again: neither pinned nor exhausted. */
static bool reclaim_slot(haft_worker *worker, uint64_t index)
{
    const haft_table *table = worker->table;
    const struct word_format *format = &table->slots.format;
    atomic_u64 *at = slots_word(&table->slots, index);
    const uint64_t word = load_relaxed(OWN, at);

    if (word_index(format, word) != MARK_FREE) { /* given up before it was live */
        count_up(&worker->counters.reclaimed, 1);
        return true;
    }
    if (table->slots.has_pins && is_pinned(table, at)) {
        return false;
    }
    if (table->on_reclaim != NULL) {
        call_back(worker, index, at, word);
    }
    const uint64_t next = life_after(&table->slots, word);
    const bool is_last = word_index(format, next) == MARK_EXHAUSTED;

    count_up(&worker->counters.reclaimed, 1);
    /* Weakened, the slot could count twice: its life would not have ended, and it be exhausted. */
    tally(&worker->counters.exhausted, is_last);
    slots_poison(&table->slots, at);
    store_relaxed(OWN, at, next);
    return !is_last;
}

void reclaim_quietly(haft_worker *worker, struct batch *batch)
{
    const uint32_t count = batch->count;

    store_relaxed(OWN, &batch->ticket, 0);
    if (!worker->table->reclaims_by_slot && !batch->has_last_lives) {
        count_up(&worker->counters.reclaimed, count);
        return;
    }
    batch->count = 0;
    batch->has_last_lives = false;
    for (uint32_t i = 0; i < count; i++) {
        if (reclaim_slot(worker, batch->indices[i])) {
            batch->indices[batch->count++] = batch->indices[i];
        }
    }
}

/* Cancellation is off for the batch: for each object it would cost as much as the object. */
static void call_back_for(haft_worker *worker, struct batch *source)
{
    struct batch *destination = exchange_take_empty(worker);
    const int cancel = os_cancel_off();

    taking = (struct taking){worker->table, destination};
    for (uint32_t i = 0; i < source->count; i++) {
        if (reclaim_slot(worker, source->indices[i])) {
            destination->indices[destination->count++] = source->indices[i];
        }
    }
    taking.table = NULL;
    os_cancel_restore(cancel);
    source->count = 0;
    exchange_give_empty(worker, source);
    exchange_put_ready(worker, destination);
}

void reclaim_batch(haft_worker *worker, struct batch *source)
{
    if (worker->table->on_reclaim != NULL) {
        call_back_for(worker, source);
    } else {
        reclaim_quietly(worker, source);
        exchange_put_ready(worker, source);
    }
}

struct batch *reclaim_destination(const haft_table *table)
{
    return taking.table == table && taking.destination->count != 0 ? taking.destination : NULL;
}

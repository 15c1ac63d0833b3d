/*
 * concurrent/counted/queue.h - the free slots of a table with min_free: first in, first out, and
 * out only with min_free slots behind.
 */
#ifndef HAFT_CONCURRENT_COUNTED_QUEUE_H
#define HAFT_CONCURRENT_COUNTED_QUEUE_H

#include "concurrent/counted/state.h"

#define QUEUE_HEADS 2u /* the head and the tail */

/* The queue begins with slot `index`: it is never empty. */
void queue_setup(haft_counted *table, uint64_t index);

/*
 * The oldest slot: HAFT_OK, HAFT_CLOSED; or HAFT_FULL: at one moment the queue had `*length` slots,
 * not more than min_free.
 */
haft_status queue_take(haft_counted *table, uint64_t *index, uint64_t *length);

/* Slot `index` is free for `life`.  False: the table is closed, and the slot still the caller's. */
bool queue_give(haft_counted *table, uint64_t index, uint32_t life);

/* Whether it is the slot that a queue begins with, and has had no life: it was never used. */
static inline bool queue_slot_is_unused(const haft_counted *table, uint64_t index, uint64_t word)
{
    return index == HAFT_FIRST_INDEX && table->min_free != 0 &&
           word >> COUNTED_LOW_BITS == (uint64_t)table->first_life << 2; /* FREE */
}

/* Take all slots, and mark the queue closed. */
void queue_close(haft_counted *table);

#endif /* HAFT_CONCURRENT_COUNTED_QUEUE_H */

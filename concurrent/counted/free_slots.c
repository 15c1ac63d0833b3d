/*
 * Free slots of a counted table: shards, or a queue; then fresh ones.
 *
 * FULL is said only if at one moment of the call no slot was free: fresh slots are used up, for
 * good, when two looks find the same heads, all without a slot.  A head's number of takings tells
 * a list that was empty all the time from one that was filled and emptied in between.
 *
 * When fresh slots are closing's, the number of those used stays, for looks beside it, with a mark.
 *
 * Edges in this file.
 *   COUNT    fresh slots are drawn one by one, and each is zero; nothing else follows from it; nor
 *            from the number of slots that can be read
 *   RETRY    a first look; the compare-and-swap decides
 *   SAME     a second look at the fresh slots, after the queue's ends were acquired
 */
#include "concurrent/counted/free_slots.h"
#include "concurrent/counted/queue.h"
#include "concurrent/counted/returned.h"
#include "concurrent/counted/shards.h"
#include <assert.h>

#define FRESH_IS_CLOSED (UINT64_C(1) << 63)

uint64_t free_slots_heads(uint64_t capacity, uint64_t min_free)
{
    return min_free != 0 ? QUEUE_HEADS : shards_count(capacity);
}

/*
 * Where memory can be read step by step, slots whose memory is ready.  A thread that draws a slot
 * calls this before it issues an id of it.
 */
static void note_ready(haft_counted *table)
{
    const char *first = (const char *)counted_at(table, HAFT_FIRST_INDEX);
    const uint64_t bytes = reservation_ready(&table->memory);
    const uint64_t ready = (bytes - (uint64_t)(first - table->memory.base)) / table->stride;
    const uint64_t slots = ready < table->slot_count ? ready : table->slot_count;
    uint64_t before = load_relaxed(RETRY, &table->ready_count);

    while (before < slots && !cas_relaxed(COUNT, &table->ready_count, before, slots)) {
        before = load_relaxed(RETRY, &table->ready_count);
    }
}

void free_slots_setup(haft_counted *table)
{
    uint64_t used = HAFT_FIRST_INDEX;

    if (OS_READS_IN_STEPS) {
        note_ready(table);
    }
    if (table->min_free != 0) {
        queue_setup(table, used++);
    }
    store_relaxed(COUNT, &table->block->fresh.word, used);
}

/* Draw fresh slot `at`: HAFT_BUSY if another call has drawn it. */
static haft_status draw_fresh(haft_counted *table, uint64_t at)
{
    const char *end = (const char *)counted_at(table, at) + table->stride;
    const uint64_t bytes = (uint64_t)(end - table->memory.base);

    assert(end > table->memory.base && at >= HAFT_FIRST_INDEX);
    const haft_status status =
        reservation_commit(&table->memory, bytes < table->memory.size ? bytes : table->memory.size);

    if (status != HAFT_OK) {
        return status;
    }
    if (OS_READS_IN_STEPS) {
        note_ready(table);
    }
    return cas_relaxed(COUNT, &table->block->fresh.word, at, at + 1) ? HAFT_OK : HAFT_BUSY;
}

/* The next fresh slot; or, when they are used up, a slot of a shard after all. */
static haft_status take_fresh(haft_counted *table, uint64_t *index)
{
    haft_status status = HAFT_BUSY;

    while (status == HAFT_BUSY) {
        *index = load_relaxed(RETRY, &table->block->fresh.word);
        if ((*index & FRESH_IS_CLOSED) != 0) {
            return HAFT_CLOSED;
        }
        if (*index - HAFT_FIRST_INDEX >= table->slot_count) {
            return shards_take_surely(table, index);
        }
        status = draw_fresh(table, *index);
    }
    return status;
}

/*
 * With a queue, min_free slots stay free, in the queue or fresh.  The queue's length falls only
 * while it is above min_free: so between a look that finds it shorter and the drawing of the slot
 * that was the first fresh one before that look, it has not become less.
 */
static haft_status take_queued(haft_counted *table, uint64_t *index)
{
    const atomic_u64 *fresh = &table->block->fresh.word;

    for (;;) {
        const uint64_t at = load_relaxed(RETRY, fresh);
        uint64_t length;
        haft_status status = queue_take(table, index, &length);

        if (status != HAFT_FULL) {
            return status;
        }
        if ((at & FRESH_IS_CLOSED) != 0) {
            return HAFT_CLOSED;
        }
        if (at - HAFT_FIRST_INDEX - length < table->capacity) {
            *index = at;
            status = draw_fresh(table, at);
            if (status != HAFT_BUSY) {
                return status;
            }
        } else if (load_relaxed(SAME, fresh) == at) {
            return HAFT_FULL;
        }
    }
}

haft_status free_slots_take(haft_counted *table, uint64_t *index)
{
    if (table->min_free != 0) {
        return take_queued(table, index);
    }
    const haft_status status = shards_take(table, index);

    return status == HAFT_FULL ? take_fresh(table, index) : status;
}

void free_slots_give(haft_counted *table, uint64_t index, uint32_t life)
{
    assert(!counted_is_exhausted(table, life) && "an exhausted slot is in no list");
    const bool is_in_list =
        table->min_free != 0 ? queue_give(table, index, life) : shards_give(table, index, life);

    if (!is_in_list) {
        returned_add(table);
    }
}

uint64_t free_slots_end(const haft_counted *table)
{
    return load_relaxed(COUNT, &table->block->fresh.word) & ~FRESH_IS_CLOSED;
}

void free_slots_close(haft_counted *table)
{
    atomic_u64 *fresh = &table->block->fresh.word;
    const uint64_t end = HAFT_FIRST_INDEX + table->slot_count;

    if (table->min_free != 0) {
        queue_close(table);
    } else {
        shards_close(table);
    }
    uint64_t used = load_relaxed(RETRY, fresh);

    while ((used & FRESH_IS_CLOSED) == 0) {
        if (cas_relaxed(COUNT, fresh, used, used | FRESH_IS_CLOSED)) {
            assert(used >= HAFT_FIRST_INDEX && used <= end);
            table->owned += end - used;
        }
        used = load_relaxed(RETRY, fresh);
    }
}

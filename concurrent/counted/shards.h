/*
 * concurrent/counted/shards.h - the free slots of a table without min_free: stacks, each with its
 * head on a separate cache line, of which threads use different ones.
 *
 * A stack is R. K. Treiber's (IBM RJ 5118, 1986): the head's number of takings, 34 bits, tells a
 * head that came back from one that stayed.  A thread begins at the shard that its number names,
 * and may move on when another call was faster: two that collide part while there are shards
 * enough.
 *
 * Edges in this file.
 *   SHARD   shards_give, shards_try, end_plainly (release) -> shards_try, shards_look, shards_close
 *           (acquire)   the slot's last life; and the slots that a thread gave before it took one,
 *           to a look that finds that one taken
 *   OWN     only this call writes the slot's word
 *   RETRY   a first look; the compare-and-swap decides
 */
#ifndef HAFT_CONCURRENT_COUNTED_SHARDS_H
#define HAFT_CONCURRENT_COUNTED_SHARDS_H

#include "concurrent/counted/state.h"
#include "lib/base/compiler.h"
#include <assert.h>

/* Shards for that capacity: a power of two. */
uint64_t shards_count(uint64_t capacity);

extern THREAD_LOCAL uint32_t shards_thread; /* the calling thread's number; 0: it has none yet */
uint32_t shards_number_thread(void);

/* Another call was faster where the calling thread gave or took, or closed the table. */
static inline void shards_move_thread(void)
{
    shards_thread++;
}

/* The calling thread's shard. */
static inline uint32_t shards_own_number(const haft_counted *table)
{
    const uint32_t thread = shards_thread != 0 ? shards_thread : shards_number_thread();

    return thread & table->shard_mask;
}

static inline atomic_u64 *shards_own(haft_counted *table)
{
    return &table->block->heads[shards_own_number(table)].word;
}

/* The head after its first slot was taken, whose word is `word`. */
static inline uint64_t shards_head_after(uint64_t head, uint64_t word)
{
    assert(counted_low(head) > COUNTED_CLOSED);
    const uint64_t takings = (head >> COUNTED_LOW_BITS) + 1;

    return takings << COUNTED_LOW_BITS | counted_low(word);
}

/* Take the shard's first slot, if it has one and no other call is faster; `*word` is the slot's. */
static inline bool shards_try(haft_counted *table, atomic_u64 *shard, uint64_t *index,
                              uint64_t *word)
{
    /* Weakened, the slot's word could be from before it was given. */
    const uint64_t head = load_acquire(SHARD, shard);

    *index = counted_low(head);
    if (*index <= COUNTED_CLOSED) {
        return false;
    }
    *word = load_relaxed(RETRY, counted_at(table, *index));
    /* Acquire: the slot's last life is over.  Release: weakened, a look that finds this shard empty
     * could miss a slot that this thread has given to another shard before. */
    return cas_acq_rel(SHARD, shard, head, shards_head_after(head, *word));
}

/* HAFT_OK, HAFT_FULL, HAFT_CLOSED; _surely: FULL only if all shards were empty at one moment. */
haft_status shards_take(haft_counted *table, uint64_t *index);
haft_status shards_take_surely(haft_counted *table, uint64_t *index);

/* Slot `index` is free for `life`.  False: the table is closed, and the slot still the caller's. */
static inline bool shards_give(haft_counted *table, uint64_t index, uint32_t life)
{
    atomic_u64 *at = counted_at(table, index);

    assert(counted_state_of(load_relaxed(OWN, at)) == COUNTED_RESERVED ||
           counted_state_of(load_relaxed(OWN, at)) == COUNTED_FREE);
    for (;;) {
        atomic_u64 *shard = shards_own(table);
        const uint64_t head = load_relaxed(RETRY, shard);

        if (counted_low(head) == COUNTED_CLOSED) {
            store_relaxed(OWN, at, counted_word(life, COUNTED_FREE, COUNTED_NONE));
            return false;
        }
        store_relaxed(OWN, at, counted_word(life, COUNTED_FREE, counted_low(head)));
        /* Weakened, the slot could be taken with a link or a life from before. */
        if (cas_release(SHARD, shard, head, (head & ~COUNTED_LOW_MASK) | index)) {
            return true;
        }
        shards_move_thread();
    }
}

/* Take all slots, and mark the shards closed. */
void shards_close(haft_counted *table);

#endif /* HAFT_CONCURRENT_COUNTED_SHARDS_H */

/*
 * concurrent/counted/word.h - a slot's word in a counted table: one 64-bit value decides everything
 * about the slot.
 *
 * slot.word:   63         32 31   30 29            0
 *              +------------+-------+---------------+
 *              |    life    | state |      low      |
 *              +------------+-------+---------------+
 *
 *   state      low
 *   FREE       in a list: the next slot's index, 0 at its end (the queue's end is 1 when the table
 *              is closed).  A word of all zeros: fresh, never used
 *   RESERVED   0: reserved by a caller.  1: being destroyed.  2: exhausted.  4 and above:
 *              being destroyed in a chain, before that slot
 *   LIVE       the number of holders
 *   ENDED      freed while it was held: the number of holders, never 0
 *
 * The id's generation is the low bits of the life, as many as the layout has.  A life whose low
 * bits are 0 is never LIVE: with `wrap` it is skipped, else the slot is exhausted then.
 *
 * Legal    FREE -> RESERVED 0                    by the call that took the slot out of its list
 *          RESERVED 0, FREE -> LIVE 0            by the thread that publishes         (PUBLISH)
 *          RESERVED 0 -> RESERVED 1, next life   by the thread that gives it up
 *          LIVE n -> LIVE n + 1, n - 1           by any thread, with CAS              (HOLD)
 *          LIVE 0 -> RESERVED 1, next life       by one thread that frees, with CAS; where there is
 *                                                nothing to destroy, LIVE 0 -> FREE, next life
 *          LIVE n -> ENDED n                     the same, n > 0
 *          ENDED n -> ENDED n + 1, n - 1         by threads that hold, with CAS
 *          ENDED 1 -> RESERVED 1, next life      by the last one, with CAS
 *          RESERVED 1 -> RESERVED index          by the call that destroys: put into a chain
 *          RESERVED -> RESERVED 2                by the call that destroys: no life is left
 *          RESERVED -> FREE                      by the call that destroys: put into a list
 *          FREE -> FREE, another link            by the call that puts it into a shard, and finds
 *                                                that the shard's head has changed
 *          FREE, link 0 -> another slot, or 1    of the queue's last slot, by any thread, with CAS
 *
 * Invariant: from LIVE on to the end only compare-and-swaps change a word, and the link of the
 * queue's last slot; else it is written by the slot's one owner.  A FREE slot is in one list, or in
 * the hand of one call.
 */
#ifndef HAFT_CONCURRENT_COUNTED_WORD_H
#define HAFT_CONCURRENT_COUNTED_WORD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum counted_state { COUNTED_FREE = 0, COUNTED_RESERVED = 1, COUNTED_LIVE = 2, COUNTED_ENDED = 3 };

#define COUNTED_LOW_BITS 30
#define COUNTED_LOW_MASK ((UINT64_C(1) << COUNTED_LOW_BITS) - 1)
#define COUNTED_MOST_HOLDERS COUNTED_LOW_MASK

/* In a head: no slot; no slot ever again.  In a word that is RESERVED: of a caller; being
 * destroyed; for ever. */
enum counted_mark { COUNTED_NONE = 0, COUNTED_CLOSED = 1 };
enum counted_purpose { COUNTED_FOR_CALLER = 0, COUNTED_ENDING = 1, COUNTED_EXHAUSTED = 2 };

static inline uint64_t counted_word(uint32_t life, enum counted_state state, uint64_t low)
{
    assert(low <= COUNTED_LOW_MASK);
    return (uint64_t)life << 32 | (uint64_t)state << COUNTED_LOW_BITS | low;
}

static inline uint32_t counted_life(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static inline enum counted_state counted_state_of(uint64_t word)
{
    return (enum counted_state)(word >> COUNTED_LOW_BITS & 3);
}

static inline uint64_t counted_low(uint64_t word)
{
    return word & COUNTED_LOW_MASK;
}

/* ENDED, with one holder: its release is the last. */
static inline bool counted_is_last(uint64_t word)
{
    return (uint32_t)word == (uint32_t)counted_word(0, COUNTED_ENDED, 1);
}

#endif /* HAFT_CONCURRENT_COUNTED_WORD_H */

/*
 * concurrent/batches/tagged.h - numbers: drawn once each; and with a tag, as the heads of
 * lock-free stacks.
 *
 * Edges in this file.
 *   RETRY   a first look; the compare-and-swap decides
 */
#ifndef HAFT_CONCURRENT_TAGGED_H
#define HAFT_CONCURRENT_TAGGED_H

#include "lib/base/atomics.h"
#include <assert.h>
#include <stdint.h>

/*
 * A number with a tag, in one word, which stacks exchange.  A thread that stalls between its load
 * and its compare-and-swap is mistaken only if the other threads make an exact multiple of 2^30
 * exchanges meanwhile.
 */
#define NUMBER_BITS 34
#define NUMBER_NONE ((UINT64_C(1) << NUMBER_BITS) - 1)

static inline uint64_t tagged_number(uint64_t tagged)
{
    return tagged & NUMBER_NONE;
}

/* `number` under the tag that follows `tagged`'s. */
static inline uint64_t tagged_next(uint64_t tagged, uint64_t number)
{
    assert(number <= NUMBER_NONE);
    return ((tagged >> NUMBER_BITS) + 1) << NUMBER_BITS | number;
}

/* A number below `count` that was never drawn, or NUMBER_NONE.  Any threads, lock-free. */
static inline uint64_t take_number(atomic_u64 *used, uint64_t count)
{
    for (;;) {
        const uint64_t before = load_relaxed(RETRY, used);

        if (before >= count) {
            return NUMBER_NONE;
        }
        if (cas_relaxed(RETRY, used, before, before + 1)) {
            return before;
        }
    }
}

#endif /* HAFT_CONCURRENT_TAGGED_H */

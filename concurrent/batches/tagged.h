/*
 * concurrent/batches/tagged.h - numbers with a tag: the heads of lock-free stacks.
 */
#ifndef HAFT_CONCURRENT_TAGGED_H
#define HAFT_CONCURRENT_TAGGED_H

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
    return ((tagged >> NUMBER_BITS) + 1) << NUMBER_BITS | number;
}

#endif /* HAFT_CONCURRENT_TAGGED_H */

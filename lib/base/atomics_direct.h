/*
 * lib/base/atomics_direct.h - the operations behind lib/base/atomics.h, as the compiler makes them.
 */
#ifndef HAFT_LIB_ATOMICS_DIRECT_H
#define HAFT_LIB_ATOMICS_DIRECT_H

#include <haft/detail/atomics.h>

static inline uint64_t u64_exchange(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                    memory_order order)
{
    (void)edge;
    return atomic_exchange_explicit(word, value, order);
}

static inline uint64_t u64_fetch_or(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                    memory_order order)
{
    (void)edge;
    return atomic_fetch_or_explicit(word, value, order);
}

static inline uint64_t u64_fetch_add(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                     memory_order order)
{
    (void)edge;
    return atomic_fetch_add_explicit(word, value, order);
}

#endif /* HAFT_LIB_ATOMICS_DIRECT_H */

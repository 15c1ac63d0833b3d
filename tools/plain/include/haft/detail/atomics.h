/*
 * The operations of haft/detail/atomics.h in plain C11: the edge is dropped before the compiler
 * sees it.  tools/no_cost compares what compilers make of both.
 */
#ifndef HAFT_PLAIN_ATOMICS_H
#define HAFT_PLAIN_ATOMICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef _Atomic(uint64_t) haft_atomic_u64;

#define haft_load_relaxed(reason, word) atomic_load_explicit(word, memory_order_relaxed)
#define haft_load_acquire(edge, word) atomic_load_explicit(word, memory_order_acquire)
#define haft_store_relaxed(reason, word, value)                                                    \
    atomic_store_explicit(word, value, memory_order_relaxed)
#define haft_store_release(edge, word, value)                                                      \
    atomic_store_explicit(word, value, memory_order_release)

#define haft_cas_acquire(edge, word, expected, desired)                                            \
    plain_cas(word, expected, desired, memory_order_acquire)

static inline bool plain_cas(haft_atomic_u64 *word, uint64_t expected, uint64_t desired,
                             memory_order order)
{
    return atomic_compare_exchange_strong_explicit(word, &expected, desired, order,
                                                   memory_order_relaxed);
}

#endif /* HAFT_PLAIN_ATOMICS_H */

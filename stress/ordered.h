/*
 * stress/ordered.h - the machine's atomic operations, for a build with -DHAFT_HOOKED.
 *
 * The order is spelled out in each case: ThreadSanitizer overlooks one that it cannot see when it
 * compiles.
 */
#ifndef HAFT_STRESS_ORDERED_H
#define HAFT_STRESS_ORDERED_H

#include <haft/detail/atomics.h>
#include <stdbool.h>

#define SPELL_OUT(order, operation, ...)                                                           \
    switch (order) {                                                                               \
    case memory_order_relaxed:                                                                     \
        return operation(__VA_ARGS__, memory_order_relaxed);                                       \
    case memory_order_acquire:                                                                     \
        return operation(__VA_ARGS__, memory_order_acquire);                                       \
    case memory_order_release:                                                                     \
        return operation(__VA_ARGS__, memory_order_release);                                       \
    default:                                                                                       \
        return operation(__VA_ARGS__, memory_order_acq_rel);                                       \
    }

#define ORDERED_CAS(word, expected, desired, order)                                                \
    atomic_compare_exchange_strong_explicit(word, expected, desired, order, memory_order_relaxed)

static inline uint64_t ordered_load(const haft_atomic_u64 *word, haft_order order)
{
    return order == memory_order_relaxed ? atomic_load_explicit(word, memory_order_relaxed)
                                         : atomic_load_explicit(word, memory_order_acquire);
}

static inline void ordered_store(haft_atomic_u64 *word, uint64_t value, haft_order order)
{
    if (order == memory_order_relaxed) {
        atomic_store_explicit(word, value, memory_order_relaxed);
    } else {
        atomic_store_explicit(word, value, memory_order_release);
    }
}

static inline bool ordered_cas(haft_atomic_u64 *word, uint64_t expected, uint64_t desired,
                               haft_order order)
{
    SPELL_OUT(order, ORDERED_CAS, word, &expected, desired)
}

static inline uint64_t ordered_exchange(haft_atomic_u64 *word, uint64_t value, haft_order order)
{
    SPELL_OUT(order, atomic_exchange_explicit, word, value)
}

static inline uint64_t ordered_fetch_or(haft_atomic_u64 *word, uint64_t value, haft_order order)
{
    SPELL_OUT(order, atomic_fetch_or_explicit, word, value)
}

static inline uint64_t ordered_fetch_add(haft_atomic_u64 *word, uint64_t value, haft_order order)
{
    SPELL_OUT(order, atomic_fetch_add_explicit, word, value)
}

#endif /* HAFT_STRESS_ORDERED_H */

/*
 * haft/detail/atomics_msvc.h - atomic operations by Visual C++'s intrinsics, for C, where it has no
 * _Atomic.
 *
 * As its own standard library makes them: loads and stores that the compiler neither splits nor
 * merges (__iso_volatile_...); on x86-64 a barrier for the compiler is all that acquire and release
 * need beside them, on Arm64 one for the processor stands beside the operation.  Interlocked
 * operations have forms for an order on Arm64 (_acq, _rel, _nf); on x86-64 each orders all.
 * (learn.microsoft.com/cpp/intrinsics/arm64-intrinsics; microsoft/STL, stl/inc/atomic.)
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  as the argument says.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_DETAIL_ATOMICS_MSVC_H
#define HAFT_DETAIL_ATOMICS_MSVC_H

#include <haft/detail/inline.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(HAFT_COMPILER_MSVC) && !defined(__cplusplus)
#include <intrin.h>

typedef struct haft_atomic_u64 {
    HAFT_ALIGNED(8) uint64_t value;
} haft_atomic_u64;

typedef enum haft_order {
    HAFT_ORDER_relaxed,
    HAFT_ORDER_acquire,
    HAFT_ORDER_release,
    HAFT_ORDER_acq_rel
} haft_order;

/* The intrinsics take a signed word that may change at any time. */
#define HAFT_MSVC_WORD(word) ((volatile long long *)&(word)->value)

/* haft_msvc_before, haft_msvc_behind: a barrier where a store releases, and a load acquires. */
#if defined(_M_ARM64) || defined(_M_ARM64EC)
#define haft_msvc_before() __dmb(_ARM64_BARRIER_ISH)
#define haft_msvc_behind() __dmb(_ARM64_BARRIER_ISHLD)
#define HAFT_MSVC_BY_ORDER(order, call, ...)                                                       \
    ((order) == HAFT_ORDER_relaxed   ? call##_nf(__VA_ARGS__)                                      \
     : (order) == HAFT_ORDER_acquire ? call##_acq(__VA_ARGS__)                                     \
     : (order) == HAFT_ORDER_release ? call##_rel(__VA_ARGS__)                                     \
                                     : call(__VA_ARGS__))
#else
#define haft_msvc_before() _ReadWriteBarrier()
#define haft_msvc_behind() _ReadWriteBarrier()
#define HAFT_MSVC_BY_ORDER(order, call, ...) ((void)(order), call(__VA_ARGS__))
#endif

/* The word's value. */
HAFT_ONLY_INLINE uint64_t haft_msvc_load(const haft_atomic_u64 *word, haft_order order)
{
    const uint64_t value =
        (uint64_t)__iso_volatile_load64((const volatile long long *)&word->value);

    if (order != HAFT_ORDER_relaxed) {
        haft_msvc_behind();
    }
    return value;
}

/* Another value for the word. */
HAFT_ONLY_INLINE void haft_msvc_store(haft_atomic_u64 *word, uint64_t value, haft_order order)
{
    if (order != HAFT_ORDER_relaxed) {
        haft_msvc_before();
    }
    __iso_volatile_store64(HAFT_MSVC_WORD(word), (long long)value);
}

/* Compare and swap: whether `*word` was `expected`. */
HAFT_ONLY_INLINE bool haft_msvc_cas(haft_atomic_u64 *word, uint64_t expected, uint64_t desired,
                                    haft_order order)
{
    return (uint64_t)HAFT_MSVC_BY_ORDER(order, _InterlockedCompareExchange64, HAFT_MSVC_WORD(word),
                                        (long long)desired, (long long)expected) == expected;
}

/* Another value for the word; the one before. */
HAFT_ONLY_INLINE uint64_t haft_msvc_exchange(haft_atomic_u64 *word, uint64_t value,
                                             haft_order order)
{
    return (uint64_t)HAFT_MSVC_BY_ORDER(order, _InterlockedExchange64, HAFT_MSVC_WORD(word),
                                        (long long)value);
}

/* More bits for the word; its value before. */
HAFT_ONLY_INLINE uint64_t haft_msvc_or(haft_atomic_u64 *word, uint64_t bits, haft_order order)
{
    return (uint64_t)HAFT_MSVC_BY_ORDER(order, _InterlockedOr64, HAFT_MSVC_WORD(word),
                                        (long long)bits);
}

/* Add to the word; its value before. */
HAFT_ONLY_INLINE uint64_t haft_msvc_add(haft_atomic_u64 *word, uint64_t value, haft_order order)
{
    return (uint64_t)HAFT_MSVC_BY_ORDER(order, _InterlockedExchangeAdd64, HAFT_MSVC_WORD(word),
                                        (long long)value);
}
#endif

#endif /* HAFT_DETAIL_ATOMICS_MSVC_H */

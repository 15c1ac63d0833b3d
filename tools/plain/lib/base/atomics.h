/*
 * The operations of lib/base/atomics.h in plain C11: the edge is dropped before the compiler sees
 * it.  tools/no_cost compares what compilers make of both.
 */
#ifndef HAFT_PLAIN_LIB_ATOMICS_H
#define HAFT_PLAIN_LIB_ATOMICS_H

#include <haft/detail/atomics.h>

typedef haft_atomic_u64 atomic_u64;

#define CACHE_LINE 64

#define load_relaxed(reason, word) atomic_load_explicit(word, memory_order_relaxed)
#define load_acquire(edge, word) atomic_load_explicit(word, memory_order_acquire)
#define store_relaxed(reason, word, value) atomic_store_explicit(word, value, memory_order_relaxed)
#define store_release(edge, word, value) atomic_store_explicit(word, value, memory_order_release)

#define cas_relaxed(reason, word, expected, desired)                                               \
    plain_cas(word, expected, desired, memory_order_relaxed)
#define cas_acquire(edge, word, expected, desired)                                                 \
    plain_cas(word, expected, desired, memory_order_acquire)
#define cas_acq_rel(edge, word, expected, desired)                                                 \
    plain_cas(word, expected, desired, memory_order_acq_rel)
#define cas_release(edge, word, expected, desired)                                                 \
    plain_cas(word, expected, desired, memory_order_release)

#define exchange_relaxed(reason, word, value)                                                      \
    atomic_exchange_explicit(word, value, memory_order_relaxed)
#define exchange_acquire(edge, word, value)                                                        \
    atomic_exchange_explicit(word, value, memory_order_acquire)
#define exchange_acq_rel(edge, word, value)                                                        \
    atomic_exchange_explicit(word, value, memory_order_acq_rel)
#define fetch_add_relaxed(reason, word, value)                                                     \
    atomic_fetch_add_explicit(word, value, memory_order_relaxed)
#define fetch_add_acquire(edge, word, value)                                                       \
    atomic_fetch_add_explicit(word, value, memory_order_acquire)
#define fetch_add_release(edge, word, value)                                                       \
    atomic_fetch_add_explicit(word, value, memory_order_release)
#define fetch_or_relaxed(reason, word, value)                                                      \
    atomic_fetch_or_explicit(word, value, memory_order_relaxed)
#define fetch_or_acq_rel(edge, word, value)                                                        \
    atomic_fetch_or_explicit(word, value, memory_order_acq_rel)
#define fetch_add_acq_rel(edge, word, value)                                                       \
    atomic_fetch_add_explicit(word, value, memory_order_acq_rel)

typedef uint64_t __attribute__((may_alias)) bytes_u64;

#define bytes_load_acquire(edge, bytes)                                                            \
    __atomic_load_n((const bytes_u64 *)(bytes), __ATOMIC_ACQUIRE)
#define bytes_store_release(edge, bytes, value)                                                    \
    __atomic_store_n((bytes_u64 *)(bytes), value, __ATOMIC_RELEASE)

#endif /* HAFT_PLAIN_LIB_ATOMICS_H */

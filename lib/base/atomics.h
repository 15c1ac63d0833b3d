/*
 * lib/base/atomics.h - all atomic operations of lib/, concurrent/ and kit/.
 *
 * The order is in the name, the edge is the first argument: store_release(PUBLISH, &word, id).
 * haft/detail/atomics.h lists the edges.  No fences: the order stands on the operation, where
 * ThreadSanitizer sees it.
 *
 * The operations themselves stand in lib/base/atomics_direct.h; for a hooked build they are
 * declared in lib/base/atomics_hooked.h.  An operation that is added is added to both.
 */
#ifndef HAFT_LIB_ATOMICS_H
#define HAFT_LIB_ATOMICS_H

#include <haft/detail/atomics.h>
#include <stdbool.h>

typedef haft_atomic_u64 atomic_u64;

#ifdef HAFT_HOOKED
#include "lib/base/atomics_hooked.h"
#else
#include "lib/base/atomics_direct.h"
#endif

#define CACHE_LINE 64 /* bytes that two threads should not both write in */

#define load_relaxed(reason, word) haft_load_relaxed(HAFT_EDGE_##reason, word)
#define load_acquire(edge, word) haft_load_acquire(HAFT_EDGE_##edge, word)
#define store_relaxed(reason, word, value) haft_store_relaxed(HAFT_EDGE_##reason, word, value)
#define store_release(edge, word, value) haft_store_release(HAFT_EDGE_##edge, word, value)

/* Compare and swap: true if `*word` was `expected` and is now `desired`.  A failure is relaxed. */
#define cas_relaxed(reason, word, expected, desired)                                               \
    haft_cas(HAFT_EDGE_##reason, word, expected, desired, HAFT_RELAXED)
#define cas_acquire(edge, word, expected, desired)                                                 \
    haft_cas(HAFT_EDGE_##edge, word, expected, desired, HAFT_ACQUIRE)
#define cas_acq_rel(edge, word, expected, desired)                                                 \
    haft_cas(HAFT_EDGE_##edge, word, expected, desired, HAFT_ACQ_REL)
#define cas_release(edge, word, expected, desired)                                                 \
    haft_cas(HAFT_EDGE_##edge, word, expected, desired, HAFT_RELEASE)

/* Exchange: the value before. */
#define exchange_relaxed(reason, word, value)                                                      \
    u64_exchange(HAFT_EDGE_##reason, word, value, HAFT_RELAXED)
#define exchange_acquire(edge, word, value)                                                        \
    u64_exchange(HAFT_EDGE_##edge, word, value, HAFT_ACQUIRE)
#define exchange_acq_rel(edge, word, value)                                                        \
    u64_exchange(HAFT_EDGE_##edge, word, value, HAFT_ACQ_REL)

/* Fetch and add: the value before. */
#define fetch_add_relaxed(reason, word, value)                                                     \
    u64_fetch_add(HAFT_EDGE_##reason, word, value, HAFT_RELAXED)
#define fetch_add_acquire(edge, word, value)                                                       \
    u64_fetch_add(HAFT_EDGE_##edge, word, value, HAFT_ACQUIRE)
#define fetch_add_release(edge, word, value)                                                       \
    u64_fetch_add(HAFT_EDGE_##edge, word, value, HAFT_RELEASE)
#define fetch_or_relaxed(reason, word, value)                                                      \
    u64_fetch_or(HAFT_EDGE_##reason, word, value, HAFT_RELAXED)
#define fetch_or_acq_rel(edge, word, value)                                                        \
    u64_fetch_or(HAFT_EDGE_##edge, word, value, HAFT_ACQ_REL)
#define fetch_add_acq_rel(edge, word, value)                                                       \
    u64_fetch_add(HAFT_EDGE_##edge, word, value, HAFT_ACQ_REL)

/* A word of an object, of whatever type the program has there; aligned to 8 bytes. */
#define bytes_load_acquire(edge, bytes) bytes_load(HAFT_EDGE_##edge, bytes, HAFT_ACQUIRE)
#define bytes_store_release(edge, bytes, value)                                                    \
    bytes_store(HAFT_EDGE_##edge, bytes, value, HAFT_RELEASE)

#endif /* HAFT_LIB_ATOMICS_H */

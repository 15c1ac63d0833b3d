/*
 * haft/detail/atomics.h - the part of haft's atomics that inline functions of public headers need.
 *
 * Every atomic operation of haft names its order in the function and the edge it belongs to as
 * its first argument; the edges are explained in docs/memory-model.md and at the top of each
 * source file that uses them.  lib/base/atomics.h adds what only the library needs.
 *
 * A build with -DHAFT_HOOKED leaves the operations to the program: each is a call of a function
 * that the program provides, with edge and order.  stress/explorer decides there which thread runs
 * next and which store a load reads; stress/lines.c counts cache lines that change hands.  Both
 * the explorer and stress/hooked.c can weaken an edge: turn all its operations to relaxed.  Some
 * test or checker must reject each edge so weakened.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  as the name says.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_DETAIL_ATOMICS_H
#define HAFT_DETAIL_ATOMICS_H

#include <haft/detail/atomics_msvc.h>
#include <haft/detail/inline.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
#include <atomic>
typedef std::atomic<uint64_t> haft_atomic_u64;
#define HAFT_ORDER(name) std::memory_order_##name
#define HAFT_LOAD(pointer, order) (pointer)->load(order)
#define HAFT_STORE(pointer, value, order) (pointer)->store(value, order)
#define HAFT_CAS(pointer, expected, desired, order)                                                \
    (pointer)->compare_exchange_strong(expected, desired, order, std::memory_order_relaxed)
#define HAFT_C extern "C"
typedef std::memory_order haft_order;
#elif defined(HAFT_COMPILER_MSVC)
#define HAFT_ORDER(name) HAFT_ORDER_##name
#define HAFT_LOAD(pointer, order) haft_msvc_load(pointer, order)
#define HAFT_STORE(pointer, value, order) haft_msvc_store(pointer, value, order)
#define HAFT_CAS(pointer, expected, desired, order) haft_msvc_cas(pointer, expected, desired, order)
#define HAFT_C
#else
#include <stdatomic.h>
typedef _Atomic(uint64_t) haft_atomic_u64;
#define HAFT_ORDER(name) memory_order_##name
#define HAFT_LOAD(pointer, order) atomic_load_explicit(pointer, order)
#define HAFT_STORE(pointer, value, order) atomic_store_explicit(pointer, value, order)
#define HAFT_CAS(pointer, expected, desired, order)                                                \
    atomic_compare_exchange_strong_explicit(pointer, &(expected), desired, order,                  \
                                            memory_order_relaxed)
#define HAFT_C
typedef memory_order haft_order;
#endif

/* Signal handlers, and children of a fork, wait for no lock of an atomic operation. */
#if defined(ATOMIC_LLONG_LOCK_FREE) && ATOMIC_LLONG_LOCK_FREE != 2 &&                              \
    !defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_8) /* clang 14 has only this for an i686 */
#error haft needs a lock-free 8-byte compare-and-swap
#endif

#define HAFT_RELAXED HAFT_ORDER(relaxed)
#define HAFT_ACQUIRE HAFT_ORDER(acquire)
#define HAFT_RELEASE HAFT_ORDER(release)
#define HAFT_ACQ_REL HAFT_ORDER(acq_rel)

/* The edges, then the reasons a relaxed operation may have. */
typedef enum haft_edge {
    HAFT_EDGE_NONE,
    HAFT_EDGE_PUBLISH,     /* object bytes before the word that makes them findable */
    HAFT_EDGE_TICKET,      /* frees of a batch before the grace period that covers its ticket */
    HAFT_EDGE_ELAPSED,     /* a grace period's end before reuse of what it covered */
    HAFT_EDGE_RING,        /* a batch's contents, to the thread that takes it from a ring */
    HAFT_EDGE_RING_ROOM,   /* reading a ring's cell before its owner writes it again */
    HAFT_EDGE_DEPOT,       /* a batch's contents, through the depot */
    HAFT_EDGE_POOL,        /* the last use of a batch descriptor before its next */
    HAFT_EDGE_WORKER_LIST, /* a worker's set-up before others can find it */
    HAFT_EDGE_ADOPT,       /* a closed worker's last state before its next owner's first use */
    HAFT_EDGE_FLOOR,       /* a run's floor, and its slots' last use, before the next draw */
    HAFT_EDGE_EXTENT,      /* a table's bump above fresh slots before others use them */
    HAFT_EDGE_TALLY,       /* frees that led to an insertion, before its count */
    HAFT_EDGE_ASK,         /* fresh slots in use before a refill no longer asks for them */
    HAFT_EDGE_QUIET,       /* reads of a worker's section before its end is seen */
    HAFT_EDGE_ARRIVE,      /* a worker online before later tickets, after earlier ones */
    HAFT_EDGE_HANDED,      /* batches handed over before the word that tells of them is cleared */
    HAFT_EDGE_TRANSIT,     /* what a worker did with waiting slots before it has none */
    HAFT_EDGE_PIN,         /* the use of a pinned object before the reuse of its memory */
    HAFT_EDGE_LIST,        /* a slot's free, to the thread that takes it from a list */
    HAFT_EDGE_WAKE,        /* a ticket before the clock thread that is woken for it looks */
    HAFT_EDGE_MEASURE, /* since when a grace period is waited for before the ticket that waits */
    HAFT_EDGE_COMMIT,  /* memory made writable before others rely on it */
    HAFT_EDGE_BLOCK,   /* the last use of a part of a block before its next owner's first */
    HAFT_EDGE_HOLD,    /* the uses of a counted object before its end */
    HAFT_EDGE_VALUE,   /* a slot's end before the words of its next object, if they are copied */
    HAFT_EDGE_SHARD,   /* a counted slot's last life, to the thread that takes it from a shard */
    HAFT_EDGE_QUEUE,   /* the same, from the queue of a table with min_free */
    HAFT_EDGE_RETURN,  /* the last use of a counted slot before its table's end */
    HAFT_EDGE_FRAME,   /* a frame of destructions, to signal handlers of its thread */
    HAFT_EDGE_SIDE,    /* a side's value before the id that makes it findable */
    /* reasons for relaxed operations */
    HAFT_EDGE_OWN,    /* only this thread writes it now */
    HAFT_EDGE_COUNT,  /* a statistic: read alone, nothing is inferred from it */
    HAFT_EDGE_ONWARD, /* it only moves on: a thread that knows of a step sees it */
    HAFT_EDGE_HINT,   /* a wrong answer costs time, never correctness */
    HAFT_EDGE_SAME,   /* a second look, after an acquire: the same value, nothing came between */
    HAFT_EDGE_RETRY   /* a first look; the compare-and-swap after it decides */
} haft_edge;

#ifdef HAFT_HOOKED
/* The word's value; and another value for it. */
HAFT_C uint64_t haft_load(haft_edge edge, const haft_atomic_u64 *word, haft_order order);
HAFT_C void haft_store(haft_edge edge, haft_atomic_u64 *word, uint64_t value, haft_order order);
/* Compare and swap: true if `*word` was `expected` and is now `desired`.  A failure is relaxed. */
HAFT_C bool haft_cas(haft_edge edge, haft_atomic_u64 *word, uint64_t expected, uint64_t desired,
                     haft_order order);
#else
/* A macro, so that debuggers do not step into it. */
#define haft_load(edge, word, order) ((void)(edge), HAFT_LOAD(word, order))

HAFT_ONLY_INLINE void haft_store(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                 haft_order order)
{
    (void)edge;
    HAFT_STORE(word, value, order);
}

HAFT_ONLY_INLINE bool haft_cas(haft_edge edge, haft_atomic_u64 *word, uint64_t expected,
                               uint64_t desired, haft_order order)
{
    (void)edge;
    return HAFT_CAS(word, expected, desired, order);
}
#endif

/* The word's value. */
#define haft_load_relaxed(reason, word) haft_load(reason, word, HAFT_RELAXED)

/* The word's value; what came before the release of it is visible. */
#define haft_load_acquire(edge, word) haft_load(edge, word, HAFT_ACQUIRE)

/* Another value for the word. */
HAFT_ONLY_INLINE void haft_store_relaxed(haft_edge reason, haft_atomic_u64 *word, uint64_t value)
{
    haft_store(reason, word, value, HAFT_RELAXED);
}

/* Another value for the word; earlier writes are visible to a thread that acquires it. */
HAFT_ONLY_INLINE void haft_store_release(haft_edge edge, haft_atomic_u64 *word, uint64_t value)
{
    haft_store(edge, word, value, HAFT_RELEASE);
}

/* Compare and swap; if it succeeds, what came before the release of `expected` is visible. */
HAFT_ONLY_INLINE bool haft_cas_acquire(haft_edge edge, haft_atomic_u64 *word, uint64_t expected,
                                       uint64_t desired)
{
    return haft_cas(edge, word, expected, desired, HAFT_ACQUIRE);
}

#endif /* HAFT_DETAIL_ATOMICS_H */

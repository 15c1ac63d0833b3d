/*
 * lib/base/atomics_direct.h - the operations behind lib/base/atomics.h, as the compiler makes them.
 */
#ifndef HAFT_LIB_ATOMICS_DIRECT_H
#define HAFT_LIB_ATOMICS_DIRECT_H

#include <haft/detail/atomics.h>

#ifdef HAFT_COMPILER_MSVC
#define ATOMIC_EXCHANGE haft_msvc_exchange
#define ATOMIC_OR haft_msvc_or
#define ATOMIC_ADD haft_msvc_add
/* Visual C++ lets any type alias. */
#define BYTES_LOAD(bytes, order) haft_msvc_load((const haft_atomic_u64 *)(bytes), order)
#define BYTES_STORE(bytes, value, order) haft_msvc_store((haft_atomic_u64 *)(bytes), value, order)
#else
typedef uint64_t __attribute__((may_alias, aligned(8))) bytes_u64; /* on i386 it would be 4 */

#define ATOMIC_EXCHANGE atomic_exchange_explicit
#define ATOMIC_OR atomic_fetch_or_explicit
#define ATOMIC_ADD atomic_fetch_add_explicit
#define BYTES_LOAD(bytes, order) __atomic_load_n((const bytes_u64 *)(bytes), (int)(order))
#define BYTES_STORE(bytes, value, order) __atomic_store_n((bytes_u64 *)(bytes), value, (int)(order))
#endif

static inline uint64_t u64_exchange(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                    haft_order order)
{
    (void)edge;
    return ATOMIC_EXCHANGE(word, value, order);
}

static inline uint64_t u64_fetch_or(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                    haft_order order)
{
    (void)edge;
    return ATOMIC_OR(word, value, order);
}

static inline uint64_t u64_fetch_add(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                     haft_order order)
{
    (void)edge;
    return ATOMIC_ADD(word, value, order);
}

static inline uint64_t bytes_load(haft_edge edge, const void *bytes, haft_order order)
{
    (void)edge;
    return BYTES_LOAD(bytes, order);
}

static inline void bytes_store(haft_edge edge, void *bytes, uint64_t value, haft_order order)
{
    (void)edge;
    BYTES_STORE(bytes, value, order);
}

#endif /* HAFT_LIB_ATOMICS_DIRECT_H */

/*
 * lib/base/atomics_direct.h - the operations behind lib/base/atomics.h, as the compiler makes them.
 */
#ifndef HAFT_LIB_ATOMICS_DIRECT_H
#define HAFT_LIB_ATOMICS_DIRECT_H

#include <haft/detail/atomics.h>

#ifdef HAFT_COMPILER_MSVC
static inline uint64_t u64_exchange(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                    haft_order order)
{
    (void)edge;
    return haft_msvc_exchange(word, value, order);
}

static inline uint64_t u64_fetch_or(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                    haft_order order)
{
    (void)edge;
    return haft_msvc_or(word, value, order);
}

static inline uint64_t u64_fetch_add(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                     haft_order order)
{
    (void)edge;
    return haft_msvc_add(word, value, order);
}

/* Visual C++ lets any type alias. */
static inline uint64_t bytes_load(haft_edge edge, const void *bytes, haft_order order)
{
    (void)edge;
    return haft_msvc_load((const haft_atomic_u64 *)bytes, order);
}

static inline void bytes_store(haft_edge edge, void *bytes, uint64_t value, haft_order order)
{
    (void)edge;
    haft_msvc_store((haft_atomic_u64 *)bytes, value, order);
}
#else
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

typedef uint64_t __attribute__((may_alias, aligned(8))) bytes_u64; /* on i386 it would be 4 */

static inline uint64_t bytes_load(haft_edge edge, const void *bytes, memory_order order)
{
    (void)edge;
    return __atomic_load_n((const bytes_u64 *)bytes, (int)order);
}

static inline void bytes_store(haft_edge edge, void *bytes, uint64_t value, memory_order order)
{
    (void)edge;
    __atomic_store_n((bytes_u64 *)bytes, value, (int)order);
}
#endif

#endif /* HAFT_LIB_ATOMICS_DIRECT_H */

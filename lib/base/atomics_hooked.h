/*
 * lib/base/atomics_hooked.h - the operations behind lib/base/atomics.h in a build with
 * -DHAFT_HOOKED.
 *
 * The program provides them, and haft_load() and haft_store() of haft/detail/atomics.h.  Each must
 * do what its counterpart in lib/base/atomics_direct.h does, and may do more.
 */
#ifndef HAFT_LIB_ATOMICS_HOOKED_H
#define HAFT_LIB_ATOMICS_HOOKED_H

uint64_t u64_exchange(haft_edge edge, atomic_u64 *word, uint64_t value, haft_order order);
uint64_t u64_fetch_or(haft_edge edge, atomic_u64 *word, uint64_t value, haft_order order);
uint64_t u64_fetch_add(haft_edge edge, atomic_u64 *word, uint64_t value, haft_order order);

static inline uint64_t bytes_load(haft_edge edge, const void *bytes, haft_order order)
{
    return haft_load(edge, (const atomic_u64 *)bytes, order);
}

static inline void bytes_store(haft_edge edge, void *bytes, uint64_t value, haft_order order)
{
    haft_store(edge, (atomic_u64 *)bytes, value, order);
}

#endif /* HAFT_LIB_ATOMICS_HOOKED_H */

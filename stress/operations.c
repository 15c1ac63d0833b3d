/*
 * The operations of lib/base/atomics.h, as lib/base/atomics_direct.h has them, told of before each.
 *
 * White-box: it provides the operations of lib/base/atomics.h.
 */
#ifndef HAFT_HOOKED
#define HAFT_HOOKED /* compiled alone, too, they are the program's */
#endif
#include "stress/operations.h"

uint64_t haft_load(haft_edge edge, const atomic_u64 *word, memory_order order)
{
    operation_made(edge, OPERATION_LOAD, word);
    return atomic_load_explicit(word, order);
}

void haft_store(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    operation_made(edge, OPERATION_STORE, word);
    atomic_store_explicit(word, value, order);
}

bool haft_cas(haft_edge edge, atomic_u64 *word, uint64_t expected, uint64_t desired,
              memory_order order)
{
    operation_made(edge, OPERATION_MODIFY, word);
    return atomic_compare_exchange_strong_explicit(word, &expected, desired, order,
                                                   memory_order_relaxed);
}

uint64_t u64_exchange(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    operation_made(edge, OPERATION_MODIFY, word);
    return atomic_exchange_explicit(word, value, order);
}

uint64_t u64_fetch_or(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    operation_made(edge, OPERATION_MODIFY, word);
    return atomic_fetch_or_explicit(word, value, order);
}

uint64_t u64_fetch_add(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    operation_made(edge, OPERATION_MODIFY, word);
    return atomic_fetch_add_explicit(word, value, order);
}

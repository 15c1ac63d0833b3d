/*
 * White-box: the library's atomic operations for a build with -DHAFT_HOOKED.  Before some of them
 * the thread gives the processor up, so that others come in between; and the one that ends an
 * object's life can be broken.
 *
 *   claim        free looks at the word and then stores: several callers can win
 *   generation   the slot's next life has the same generation
 */
#include "lib/atomics.h"
#include "stress/linear/broken.h"
#include <sched.h>
#include <stddef.h>
#include <string.h>

#define YIELD_ONE_IN 16 /* operations */

const char *const linear_modes[] = {"sound", "claim", "generation", NULL};

static bool breaks_claim;
static bool breaks_generation;
static uint64_t index_mask;

/* Once in a while another thread goes first. */
static void stutter(void)
{
    static _Thread_local uint64_t state;

    if (state == 0) {
        state = (uint64_t)(uintptr_t)&state | 1;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if (state % YIELD_ONE_IN == 0) {
        sched_yield();
    }
}

void linear_break(const char *mode, haft_layout layout)
{
    breaks_claim = strcmp(mode, "claim") == 0;
    breaks_generation = strcmp(mode, "generation") == 0;
    index_mask = haft_field_max(layout.index_bits);
}

uint64_t haft_load(haft_edge edge, const haft_atomic_u64 *word, haft_order order)
{
    (void)edge;
    stutter();
    return order == memory_order_relaxed ? atomic_load_explicit(word, memory_order_relaxed)
                                         : atomic_load_explicit(word, memory_order_acquire);
}

void haft_store(haft_edge edge, haft_atomic_u64 *word, uint64_t value, haft_order order)
{
    (void)edge;
    stutter();
    if (order == memory_order_relaxed) {
        atomic_store_explicit(word, value, memory_order_relaxed);
    } else {
        atomic_store_explicit(word, value, memory_order_release);
    }
}

static bool look_and_store(atomic_u64 *word, uint64_t expected, uint64_t desired)
{
    if (atomic_load_explicit(word, memory_order_acquire) != expected) {
        return false;
    }
    sched_yield();
    atomic_store_explicit(word, desired, memory_order_release);
    return true;
}

bool u64_cas(haft_edge edge, atomic_u64 *word, uint64_t expected, uint64_t desired,
             memory_order order)
{
    (void)order;
    stutter();
    if (edge == HAFT_EDGE_PUBLISH && breaks_generation) {
        desired = (expected & ~index_mask) | (desired & index_mask);
    }
    if (edge == HAFT_EDGE_PUBLISH && breaks_claim) {
        return look_and_store(word, expected, desired);
    }
    return atomic_compare_exchange_strong_explicit(word, &expected, desired, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

uint64_t u64_exchange(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    (void)edge;
    (void)order;
    stutter();
    return atomic_exchange_explicit(word, value, memory_order_acq_rel);
}

uint64_t u64_fetch_or(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    (void)edge;
    (void)order;
    stutter();
    return atomic_fetch_or_explicit(word, value, memory_order_acq_rel);
}

uint64_t u64_fetch_add(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    (void)edge;
    (void)order;
    stutter();
    return atomic_fetch_add_explicit(word, value, memory_order_acq_rel);
}

/*
 * White-box: the library's atomic operations for stress programs built with -DHAFT_HOOKED.  Before
 * some of them the thread gives the processor up, so that others come in between.
 *
 * The environment's HAFT_BROKEN says what is broken on purpose:
 *   PUBLISH, TICKET ...  that edge of haft/detail/atomics.h is weakened
 *   claim                free looks at the word and then stores: several callers can win
 *   floor                slots whose memory was given back begin at the first generation again
 *   generation:BITS      a slot's next life has the generation of the last one; BITS: the bits of
 *                        an id's index
 */
#include "lib/base/atomics.h"
#include "stress/edges.h"
#include "stress/ordered.h"
#include "stress/support.h"
#include <haft/id.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YIELD_ONE_IN 16 /* operations */

static bool breaks_claim;
static bool breaks_floor;
static uint64_t kept_generation; /* the bits of a word beside its index; 0: not broken */

static bool breaks_generation(const char *bits)
{
    char *end;
    const unsigned long count = strtoul(bits, &end, 10);

    if (end == bits || *end != '\0' || count < 1 || count > 63) {
        return false;
    }
    kept_generation = ~haft_field_max((unsigned)count);
    return true;
}

static bool breaks(const char *what)
{
    static const char generation[] = "generation:";

    breaks_claim = strcmp(what, "claim") == 0;
    breaks_floor = strcmp(what, "floor") == 0;
    if (strncmp(what, generation, sizeof generation - 1) == 0) {
        return breaks_generation(what + sizeof generation - 1);
    }
    return breaks_claim || breaks_floor || edge_weaken(what);
}

/* Before main(): no other thread runs yet. */
static __attribute__((constructor)) void take_broken(void)
{
    const char *what = getenv("HAFT_BROKEN");

    if (what != NULL && !breaks(what)) {
        fprintf(stderr,
                "HAFT_BROKEN must be claim, floor, generation:BITS or an edge of "
                "haft/detail/atomics.h, not '%s'\n",
                what);
        _Exit(VERDICT_USAGE);
    }
}

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

uint64_t haft_load(haft_edge edge, const haft_atomic_u64 *word, haft_order order)
{
    stutter();
    return ordered_load(word, edge_order(edge, order));
}

void haft_store(haft_edge edge, haft_atomic_u64 *word, uint64_t value, haft_order order)
{
    stutter();
    if (!breaks_floor || edge != HAFT_EDGE_ONWARD) { /* only floors are stored with that reason */
        ordered_store(word, value, edge_order(edge, order));
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

bool haft_cas(haft_edge edge, atomic_u64 *word, uint64_t expected, uint64_t desired,
              memory_order order)
{
    stutter();
    if (edge == HAFT_EDGE_PUBLISH && kept_generation != 0) {
        desired = (expected & kept_generation) | (desired & ~kept_generation);
    }
    if (edge == HAFT_EDGE_PUBLISH && breaks_claim) {
        return look_and_store(word, expected, desired);
    }
    return ordered_cas(word, expected, desired, edge_order(edge, order));
}

uint64_t u64_exchange(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    stutter();
    return ordered_exchange(word, value, edge_order(edge, order));
}

uint64_t u64_fetch_or(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    stutter();
    return ordered_fetch_or(word, value, edge_order(edge, order));
}

uint64_t u64_fetch_add(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    stutter();
    return ordered_fetch_add(word, value, edge_order(edge, order));
}

/*
 * Counts of cache lines that change hands.
 *
 * The last writer of each line stands in a table by the line's hash.  Lines that share a place
 * are taken for one: with a million places and tables of a few megabytes that is rare.
 *
 * White-box: it is told of the operations of lib/base/atomics.h.
 */
#include "stress/traffic.h"
#include "stress/operations.h"

#define PLACES (UINT32_C(1) << 20)
#define MOST_THREADS 1024
#define EDGES (HAFT_EDGE_RETRY + 1)

/* Counts of one thread, which alone writes them. */
struct counts {
    _Alignas(CACHE_LINE) struct traffic by_edge[EDGES];
};

static _Atomic(uint16_t) writers[PLACES]; /* number of a thread and 1; 0: none */
static struct counts all_counts[MOST_THREADS];
static _Atomic(uint32_t) threads;
static _Thread_local uint32_t own; /* number and 1 */

static uint32_t self(void)
{
    if (own == 0) {
        own = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % MOST_THREADS + 1;
    }
    return own;
}

void operation_made(haft_edge edge, enum operation_kind kind, const void *word)
{
    const uint64_t line = (uint64_t)(uintptr_t)word / CACHE_LINE;
    _Atomic(uint16_t) *writer = &writers[(line * UINT64_C(0x9E3779B97F4A7C15)) >> 44];
    const uint16_t last = atomic_load_explicit(writer, memory_order_relaxed);
    struct traffic *traffic = &all_counts[self() - 1].by_edge[edge];

    traffic->all[kind]++;
    traffic->foreign[kind] += last != 0 && last != self();
    if (kind != OPERATION_LOAD && last != self()) {
        atomic_store_explicit(writer, (uint16_t)self(), memory_order_relaxed);
    }
}

struct traffic traffic_of(unsigned edge)
{
    struct traffic sum = {{0}, {0}};

    for (uint32_t thread = 0; thread < MOST_THREADS && edge < EDGES; thread++) {
        for (int kind = 0; kind < OPERATION_KINDS; kind++) {
            sum.all[kind] += all_counts[thread].by_edge[edge].all[kind];
            sum.foreign[kind] += all_counts[thread].by_edge[edge].foreign[kind];
        }
    }
    return sum;
}

void traffic_reset(void)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        atomic_store_explicit(&writers[i], 0, memory_order_relaxed);
    }
    for (uint32_t thread = 0; thread < MOST_THREADS; thread++) {
        all_counts[thread] = (struct counts){0};
    }
}

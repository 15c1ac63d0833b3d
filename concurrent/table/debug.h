/*
 * concurrent/table/debug.h - what debug builds (those without NDEBUG) count so that they can assert
 * it.
 *
 * Edges in this file.
 *   COUNT  open sections: what orders the tick after them is the program's
 *
 * In hooked builds a worker's thread is not checked: that would only be more steps to explore.
 */
#ifndef HAFT_CONCURRENT_DEBUG_H
#define HAFT_CONCURRENT_DEBUG_H

#include "concurrent/table/roster.h"
#include <assert.h>

#ifdef NDEBUG
static inline void debug_count_section(haft_domain *domain, uint64_t by)
{
    (void)domain;
    (void)by;
}
#else
/*
 * `by`: 1 for one that begins, UINT64_MAX for one that ends.  The child of a fork has forgotten
 * those that were open, also the one that it was forked in.
 */
static inline void debug_count_section(haft_domain *domain, uint64_t by)
{
    const bool was_forgotten = by != 1 && load_relaxed(COUNT, &domain->sections) == 0;

    if (!domain->clock->has_flavour && !was_forgotten) {
        fetch_add_relaxed(COUNT, &domain->sections, by);
    }
}
#endif

#if defined(NDEBUG) || defined(HAFT_HOOKED)
static inline uint64_t debug_enter(const haft_worker *worker)
{
    (void)worker;
    return 0;
}

static inline void debug_leave(const haft_worker *worker, uint64_t outer)
{
    (void)worker;
    (void)outer;
}
#else
/* The calling thread begins a call with the worker; what debug_leave() is to be given. */
static inline uint64_t debug_enter(const haft_worker *worker)
{
    assert(worker_is_own(worker)); /* another thread's worker, or one that is closed */
    return 0;
}

static inline void debug_leave(const haft_worker *worker, uint64_t outer)
{
    (void)worker;
    (void)outer;
}
#endif

static inline uint64_t debug_sections(const haft_domain *domain)
{
    return load_relaxed(COUNT, &domain->sections);
}

#endif /* HAFT_CONCURRENT_DEBUG_H */

/*
 * concurrent/table/debug.h - what debug builds (those without NDEBUG) count so that they can assert
 * it.
 *
 * Edges in this file.
 *   COUNT  open sections: what orders the tick after them is the program's
 *   HINT   who is inside a call with a worker: if two threads are at one time, one of them meets
 *          the other's number sooner or later
 *
 * In hooked builds a worker's user is not watched: that would only be more steps to explore.
 */
#ifndef HAFT_CONCURRENT_DEBUG_H
#define HAFT_CONCURRENT_DEBUG_H

#include "concurrent/table/table.h"
#include <assert.h>

#ifdef NDEBUG
static inline void debug_count_section(haft_domain *domain, uint64_t by)
{
    (void)domain;
    (void)by;
}
#else
/* `by`: 1 for one that begins, UINT64_MAX for one that ends. */
static inline void debug_count_section(haft_domain *domain, uint64_t by)
{
    if (!domain->clock->has_flavour) {
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

static inline bool debug_is_own(const haft_worker *worker)
{
    (void)worker;
    return true;
}
#else
/* The calling thread begins a call with the worker; what debug_leave() is to be given. */
static inline uint64_t debug_enter(haft_worker *worker)
{
    const uint64_t self = (uint64_t)pthread_self();
    const uint64_t outer = load_relaxed(HINT, &worker->user);

    assert(outer == 0 || outer == self); /* another thread is inside a call with this worker */
    store_relaxed(HINT, &worker->user, self);
    return outer;
}

static inline void debug_leave(haft_worker *worker, uint64_t outer)
{
    assert(load_relaxed(HINT, &worker->user) == (uint64_t)pthread_self());
    store_relaxed(HINT, &worker->user, outer);
}

/* False if the calling thread may not announce itself by the worker: with the workers clock. */
static inline bool debug_is_own(const haft_worker *worker)
{
    return worker->table->domain->clock->may_leave(worker->member);
}
#endif

static inline uint64_t debug_sections(const haft_domain *domain)
{
    return load_relaxed(COUNT, &domain->sections);
}

#endif /* HAFT_CONCURRENT_DEBUG_H */

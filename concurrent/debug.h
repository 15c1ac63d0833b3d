/*
 * concurrent/debug.h - what debug builds (those without NDEBUG) count so that they can assert it.
 *
 * Edges in this file.
 *   COUNT  open sections: what orders the tick after them is the program's
 */
#ifndef HAFT_CONCURRENT_DEBUG_H
#define HAFT_CONCURRENT_DEBUG_H

#include "concurrent/domain.h"

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

static inline uint64_t debug_sections(const haft_domain *domain)
{
    return load_relaxed(COUNT, &domain->sections);
}

#endif /* HAFT_CONCURRENT_DEBUG_H */

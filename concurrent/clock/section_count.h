/*
 * concurrent/clock/section_count.h - open sections, counted by debug builds (those without NDEBUG)
 * where no foreign clock knows them.
 *
 * Edges in this file.
 *   COUNT  open sections: the program orders the tick after them
 */
#ifndef HAFT_CONCURRENT_SECTION_COUNT_H
#define HAFT_CONCURRENT_SECTION_COUNT_H

#include "concurrent/clock/state.h"

/* `by`: 1 for one that begins, UINT64_MAX for one that ends. */
static inline void section_count(haft_domain *domain, uint64_t by)
{
    (void)domain;
    (void)by;
#ifndef NDEBUG
    if (!domain->clock->is_foreign) {
        fetch_add_relaxed(COUNT, &domain->sections, by);
    }
#endif
}

static inline uint64_t sections_open(const haft_domain *domain)
{
    return load_relaxed(COUNT, &domain->sections);
}

#endif /* HAFT_CONCURRENT_SECTION_COUNT_H */

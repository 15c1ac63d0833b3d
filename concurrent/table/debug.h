/*
 * concurrent/table/debug.h - the check of each call with a worker in debug builds (those without
 * NDEBUG).
 *
 * In hooked builds a worker's thread is not checked: that would only be more steps to explore.
 */
#ifndef HAFT_CONCURRENT_DEBUG_H
#define HAFT_CONCURRENT_DEBUG_H

#include "concurrent/table/roster.h"
#include <assert.h>

#if defined(NDEBUG) || defined(HAFT_HOOKED)
static inline void debug_check(const haft_worker *worker)
{
    (void)worker;
}
#else
static inline void debug_check(const haft_worker *worker)
{
    assert(worker_is_own(worker) && "only its thread uses a worker, until the worker is closed");
}
#endif

#endif /* HAFT_CONCURRENT_DEBUG_H */

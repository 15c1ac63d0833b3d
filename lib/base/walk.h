/*
 * lib/base/walk.h - asserts that walk over a list or a batch: on in debug builds with HAFT_WALKS,
 * as those with AddressSanitizer.
 */
#ifndef HAFT_LIB_WALK_H
#define HAFT_LIB_WALK_H

#include <assert.h>

#if defined(HAFT_WALKS) && !defined(NDEBUG)
#define assert_walk(condition) assert(condition)
#else
#define assert_walk(condition) ((void)0)
#endif

/* A walk ends after that many steps: it comes with each change of a list. */
#define WALK_MOST 64

#endif /* HAFT_LIB_WALK_H */

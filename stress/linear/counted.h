/*
 * stress/linear/counted.h - what a counted table of one thread allows, for histories of several.
 *
 *   insert    HAFT_OK: an id that was not issued before, in a slot without an object
 *             HAFT_FULL: at one moment of the call all slots of the capacity may have been taken; a
 *             slot is so at most from the call of its insertion until the return of what ended it
 *   acquire, copy, is_live
 *             found: the id is live, and its object is the inserted one; not found: it is not live
 *   again     found: the object has a holder; not found: it has none
 *   release   HAFT_OK: the object has a holder; HAFT_NOT_HELD: it has none
 *   free      HAFT_OK: the id is live; HAFT_STALE or HAFT_EXHAUSTED: it was freed; HAFT_RESERVED or
 *             HAFT_NEVER_ISSUED: it was not issued
 *   take      as free; HAFT_OK: without a holder, and the object is the inserted one; HAFT_IN_USE:
 *             the id is live, and has a holder
 */
#ifndef HAFT_STRESS_LINEAR_COUNTED_H
#define HAFT_STRESS_LINEAR_COUNTED_H

#include "stress/linear/history.h"

/* The slots of an object that is freed and held are taken, until the last release. */
bool linear_counted_allows(const struct linear_history *history, uint64_t set,
                           const struct linear_operation *operation);

#endif /* HAFT_STRESS_LINEAR_COUNTED_H */

/*
 * verify.h - whether a level that was saved and loaded again is the same.
 */
#ifndef LEVEL_LOAD_VERIFY_H
#define LEVEL_LOAD_VERIFY_H

#include "level.h"

/* Every id of `level` leads to the same object in `again`, and there are no others. */
void verify_same(struct level *level, struct level *again);

/* None of the ids that `level` freed is live in `again`, not even when others live in their
 * slots.  Inserts into `again` and frees. */
void verify_stale(const struct level *level, struct level *again);

#endif /* LEVEL_LOAD_VERIFY_H */

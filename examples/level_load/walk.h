/*
 * walk.h - a file tree into a level, by one thread.
 */
#ifndef LEVEL_LOAD_WALK_H
#define LEVEL_LOAD_WALK_H

#include "level.h"

/*
 * Fills the empty `level` with the tree at `path`; sizes and lines are not looked at.  Symbolic
 * links (but `path` itself), devices and the like are counted in `*skipped`.  A folder that cannot
 * be read is marked unreadable.
 *
 * False, with `error` set, if there is no folder at `path` or no memory.
 */
bool walk_tree(const char *path, struct level *level, uint64_t *skipped, GError **error);

#endif /* LEVEL_LOAD_WALK_H */

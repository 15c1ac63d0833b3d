/*
 * largest.h - the files, or the folders, with the most bytes.
 */
#ifndef LEVEL_LOAD_LARGEST_H
#define LEVEL_LOAD_LARGEST_H

#include "level.h"

/* Up to `most` ids of that kind, the largest first; of equals, the one with more lines, then by
 * id.  To be freed by g_array_unref(). */
GArray *largest_of(struct level *level, enum kind kind, unsigned most);

/* As largest_of(), but those that are unreadable, in order of index. */
GArray *unreadable_of(struct level *level, enum kind kind, unsigned most);

#endif /* LEVEL_LOAD_LARGEST_H */

/*
 * links.h - whether the links of a level that was loaded make a tree.
 */
#ifndef LEVEL_LOAD_LINKS_H
#define LEVEL_LOAD_LINKS_H

#include "level.h"
#include "lines.h"

/* False, with `error` set to what is wrong and on which line, if they do not.  `line_of_slot`
 * goes from a slot's index to its line. */
bool links_check(struct level *level, const struct lines *lines, GHashTable *line_of_slot,
                 GError **error);

#endif /* LEVEL_LOAD_LINKS_H */

/*
 * saved.h - a level as a file: every id in it holds after loading, and those that were stale
 * before stay stale.
 *
 * Plain text, version 1, with one space between fields; ids are written as
 * haft_id_format() does, names in URI escapes, numbers in decimal:
 *
 *   haft-level 1
 *   root ID
 *   slots COUNT
 *
 * and then, for each slot ever used, in any order, one of
 *
 *   folder ID PARENT NEXT CHILD NAME
 *   file ID PARENT NEXT BYTES LINES NAME
 *   free ID
 *
 * PARENT, NEXT (sibling) and CHILD (the first) are ids or nil; the ID of a free slot is the next
 * that it will issue.  Before "folder" or "file" may stand "unreadable-".  The root's name is its
 * whole path.  Folders' totals are not saved.
 */
#ifndef LEVEL_LOAD_SAVED_H
#define LEVEL_LOAD_SAVED_H

#include "level.h"

#define SAVED_VERSION 1

/* The level in that form. */
GString *level_format(struct level *level);

/* Writes it to `path`: all of it, or the file stays as it was. */
bool level_write(const char *path, const GString *text, GError **error);

/*
 * A new level from such text, with totals.  False, with `error` set to "name:line: what is wrong",
 * if it is anything else.  `freed` gets an id of the past for each slot that has one.
 */
bool level_parse(const char *name, const char *text, size_t length, struct level *level,
                 GError **error);

/* Parses a file. */
bool level_read(const char *path, struct level *level, GError **error);

#endif /* LEVEL_LOAD_SAVED_H */

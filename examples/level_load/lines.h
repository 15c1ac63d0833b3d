/*
 * lines.h - text as lines of fields, with the place of what is wrong.
 */
#ifndef LEVEL_LOAD_LINES_H
#define LEVEL_LOAD_LINES_H

#include <glib.h>
#include <haft/id.h>
#include <stdbool.h>
#include <stdint.h>

struct lines {
    const char *name; /* of the text, for messages */
    const char *next; /* the line after this one */
    const char *end;
    unsigned number; /* of this line, from 1 */
    haft_layout layout;
    char **fields; /* of this line */
};

/* Sets `error` to "name:line: message".  Always returns false. */
bool lines_refuse(const struct lines *lines, unsigned line, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* Goes to the next line; false, with `error` set, if there is none. */
bool lines_next(struct lines *lines, GError **error);

/* Whether a line has as many fields as `form`, which says what they are. */
bool lines_have(const struct lines *lines, const char *form, GError **error);

/* A field of this line.  `what` is its name in messages. */
bool lines_number(const struct lines *lines, unsigned field, const char *what, uint64_t *number,
                  GError **error);
bool lines_id(const struct lines *lines, unsigned field, const char *what, haft_id *id,
              GError **error);

void lines_clear(struct lines *lines);

#endif /* LEVEL_LOAD_LINES_H */

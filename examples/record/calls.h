/*
 * calls.h - what system calls do to descriptors.
 */
#ifndef RECORD_CALLS_H
#define RECORD_CALLS_H

#include "line.h"

enum call_kind {
    CALL_OTHER, /* nothing */
    CALL_USES,
    CALL_OPENS,      /* the result is a new descriptor */
    CALL_PIPES,      /* two in the first argument */
    CALL_PAIRS,      /* two in the fourth */
    CALL_DUPLICATES, /* the result is a copy of the first argument's */
    CALL_CONTROLS,   /* fcntl */
    CALL_CLOSES,
    CALL_CLOSES_RANGE,
    CALL_MAKES_CHILD,
    CALL_EXECUTES
};

enum call_kind call_kind(const struct line *line);

/* The descriptor that the call uses first, or second; -1: none. */
int64_t call_used(const struct line *line, unsigned which);

bool call_sets_close_on_exec(const struct line *line);

/* Whether a call whose text begins like this makes a child. */
bool call_makes_child(const char *text);

#endif /* RECORD_CALLS_H */

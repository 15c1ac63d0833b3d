/* lib/slots/fill.h - the warning before a table is full: see haft/diagnose.h. */
#ifndef HAFT_LIB_FILL_H
#define HAFT_LIB_FILL_H

#include "lib/base/atomics.h"
#include <haft/diagnose.h>

struct fill {
    uint64_t warn_at; /* 0: never */
    haft_on_fill *on_fill;
    void *arg;
    atomic_u64 warned; /* odd: since it fell an eighth below warn_at; one more with each change */
    bool is_warning;   /* in a table of one thread: inside on_fill */
};

/* The `seen` of fill_look(): read before the objects are counted.  Any threads. */
uint64_t fill_seen(const struct fill *fill);

/* Go on from a count of changes that fill_seen() gave.  One thread uses the table. */
void fill_set(struct fill *fill, uint64_t seen);

/* Whether on_fill has run since the fill was low. */
bool fill_has_warned(uint64_t seen);

/* That has warned, and `in_use` slots are in use: if these are few, the table may warn again; true.
 * Any threads. */
bool fill_look_at_low(struct fill *fill, uint64_t seen, uint64_t in_use);

/*
 * `in_use` slots are in use, the last of them from now on, in a table of that name and capacity
 * with a warn_at.  Calls on_fill if there are enough.  Any threads.
 */
void fill_look(struct fill *fill, uint64_t seen, const char *table, uint64_t in_use,
               uint64_t capacity);

/* fill_look() for a table of one thread: not within its own on_fill. */
void fill_look_alone(struct fill *fill, const char *table, uint64_t in_use, uint64_t capacity);

#endif /* HAFT_LIB_FILL_H */

/*
 * find.h - all exports in a directory.
 */
#ifndef TOP_FIND_H
#define TOP_FIND_H

#include "top/snapshot.h"

struct finding {
    GPtrArray *running;   /* of struct snapshot, by process */
    GPtrArray *notes;     /* of char *: files of processes that have ended */
    GPtrArray *malformed; /* of char *: what is wrong with which file */
};

/*
 * Looks at the directory; at one process's file alone if `process` is not 0.  Earlier
 * snapshots go into the `before` of these.  False, with `error` set, if there is no such
 * directory.
 */
bool find_exports(struct finding *finding, const char *directory, uint64_t process, GError **error);

/* A finding of nothing, and the end of one. */
void finding_init(struct finding *finding);
void finding_clear(struct finding *finding);

#endif /* TOP_FIND_H */

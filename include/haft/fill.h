/*
 * haft/fill.h - a warning before a table is full: the options warn_at and on_fill.
 */
#ifndef HAFT_FILL_H
#define HAFT_FILL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_fill {
    const char *table; /* its name */
    uint64_t in_use;   /* objects live or reserved, and slots that are exhausted */
    uint64_t capacity;
} haft_fill;

/*
 * on_fill: called when `warn_at` or more are in use, by the thread whose call finds that; and not
 * again before they have fallen to warn_at less an eighth of it (rounded up).  The tables say when
 * they look.  `fill` lasts until it returns.
 *
 * It is called with no lock held, and may call what the caller of the insertion may, on the same
 * table and worker too: insert, free, ask; but not close them, nor what waits.  (A packed table's
 * may do what its other callbacks may.)  It is not called within itself.
 */
typedef void haft_on_fill(const haft_fill *fill, void *arg);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_FILL_H */

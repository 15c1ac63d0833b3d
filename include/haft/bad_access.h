/*
 * haft/bad_access.h - what haft_require() does with an id that names nothing.
 *
 * Each table has one policy, given at opening and never changed: the options on_bad_access and
 * bad_access_arg.  Without one the program ends with a line on stderr such as
 *
 *   haft: ships: 17v3: the object has been freed (HAFT_STALE)
 *
 * Only the functions of haft/require.h ask for it: haft_resolve() goes on answering NULL.
 */
#ifndef HAFT_BAD_ACCESS_H
#define HAFT_BAD_ACCESS_H

#include <haft/id.h>
#include <haft/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_bad_access {
    const char *table;  /* its name */
    haft_layout layout; /* to format the id with */
    haft_id id;
    haft_status status; /* what is wrong with it; never HAFT_OK */
} haft_bad_access;

/*
 * on_bad_access: called by haft_require() and its kin on the thread that asked, inside whatever
 * read section that is in.  `access` lasts until it returns.  When it does, the answer is NULL; it
 * may also leave by longjmp().  It may call what the caller of haft_require() may.
 */
typedef void haft_on_bad_access(const haft_bad_access *access, void *arg);

/*
 * haft_bad_access_format - table, id and status in one line, without a line end: "ships: 17v3: the
 * object has been freed (HAFT_STALE)".
 *
 * Returns   the number of characters without the final zero, as snprintf does: more than size - 1
 *           means that the text was cut.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      two snprintfs.
 */
int haft_bad_access_format(const haft_bad_access *access, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_BAD_ACCESS_H */

/*
 * haft/diagnose.h - what is wrong with an id or a table, for programs and for people.
 *
 *   haft_require(), on_bad_access                 ids that must be live
 *   sites, on_leak                                where objects were allocated and freed
 *   haft_table_explain(), haft_diagnose_format()  answers in words
 *
 * haft_diagnose() and its kin, which answer with a status, are with their tables.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  Functions that write text: the number of
 *           characters without the final zero, as snprintf does: more than size - 1 means that the
 *           text was cut.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_DIAGNOSE_H
#define HAFT_DIAGNOSE_H

#include <haft/detail/compiler.h>
#include <haft/detail/inline.h>
#include <haft/status.h>
#include <haft/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/* See haft/table.h and haft/local.h. */
typedef struct haft_table haft_table;
typedef struct haft_worker haft_worker;
typedef struct haft_local haft_local;

/* --- ids that must be live: a pointer, or the table's on_bad_access --- */

/*
 * For code that would only check for NULL and give up.  An id that may be stale in a right program
 * is resolved, not required: in a shared table that is every id that another thread may free.
 *
 * `view` is the table's own, as haft_local_view() and its kin gave it: kept beside the table, so
 * that a live id costs no call.  Each table has one policy, the option on_bad_access.  Without one
 * the program ends with a line on stderr such as
 *
 *   haft: ships: 17v3: the object has been freed (HAFT_STALE)
 *
 * Only haft_require() and its kin ask for it: haft_resolve() goes on answering NULL.
 */

typedef struct haft_bad_access {
    const char *table;  /* its name */
    haft_layout layout; /* to format the id with */
    haft_id id;
    haft_status status; /* what is wrong with it; never HAFT_OK */
} haft_bad_access;

/*
 * on_bad_access: called by haft_require() and its kin on the thread that asked, inside whatever
 * read section that is in; it may call what that thread may.  `access` lasts until it returns; the
 * answer is NULL then.  It may also leave by longjmp(), but not out of a callback of haft.
 */
typedef void haft_on_bad_access(const haft_bad_access *access, void *arg);

/*
 * haft_bad_access_format - table, id and status in one line, without a line end, as above from the
 * name on.
 *
 * Cost      two snprintfs.
 */
int haft_bad_access_format(const haft_bad_access *access, char *text, size_t size);

/*
 * Not for programs: the functions below call these where an id does not resolve.  `slot` is where
 * the view has its slots; debug builds assert that they are the table's.
 */
HAFT_COLD void *haft_require_failed(const haft_table *table, haft_id id, const void *slot);
HAFT_COLD void *haft_local_require_failed(const haft_local *local, haft_id id, const void *slot);

/*
 * haft_require - the object an id names; else the table's on_bad_access, with what haft_diagnose()
 * says of the id.  An id that is published meanwhile resolves after all.
 *
 * Returns   as haft_resolve().  NULL after on_bad_access has returned; without one the program is
 *           aborted.
 * Threads   as haft_resolve().
 * Ordering  as haft_resolve().
 * Progress  wait-free where the id is live; else lock-free except for on_bad_access.
 * Cost      that of haft_resolve(); the rest only for an id that is not live.
 */
HAFT_INLINE void *haft_require(const haft_table *table, haft_view view, haft_id id)
{
    void *object = haft_resolve(view, id);

    return HAFT_IF_LIKELY(object != NULL) ? object : haft_require_failed(table, id, view.base);
}

/*
 * haft_local_require - the same for a local table.
 *
 * Threads   as haft_resolve() of a local table.
 * Progress  wait-free except for on_bad_access.
 * Cost      as haft_require().
 */
HAFT_INLINE void *haft_local_require(const haft_local *local, haft_view view, haft_id id)
{
    void *object = haft_resolve(view, id);

    return HAFT_IF_LIKELY(object != NULL) ? object
                                          : haft_local_require_failed(local, id, view.base);
}

/* --- where objects were allocated and freed: for finding leaks and stale ids --- */

/*
 * A table that is opened with `sites` keeps for each slot where in the program it was last
 * reserved or inserted into, and where its object was freed: the address that the call of haft
 * returns to.  haft_diagnose_format() and its kin tell; so does the line with which haft_require()
 * ends the program; and when the table is closed, objects that are still live are reported.
 *
 * It costs 16 bytes a slot, and the short paths of insertion and free.  It works in every build.
 * Functions have names in the texts where the program keeps them (-rdynamic); else
 * `addr2line -e PROGRAM OFFSET` finds file and line.
 *
 * An object that a command set creates (haft/kit/commands.h) was allocated where its recorder was
 * opened, one that it destroys freed where the set was applied.
 */

/* Objects that were live when their table was closed, all allocated at one site. */
typedef struct haft_leak {
    const char *table; /* its name */
    const void *site;  /* NULL: not known, or one of too many, counted together */
    uint64_t count;
    haft_layout layout; /* to format the id with */
    haft_id first;      /* of these objects, the one with the lowest index */
} haft_leak;

/*
 * on_leak: called by haft_local_close(), haft_table_clear(), haft_table_close() and their kin of a
 * table with `sites`, once for each site where objects that are still live were allocated, the most
 * objects first; before on_destroy or on_reclaim runs for them.  It may not call the table.
 * Without one, each is a line on stderr such as
 *
 *   haft: ships: 12 objects are live at closing, allocated at spawn+0x41 (game+0x2c51), such as
 *   17v3
 */
typedef void haft_on_leak(const haft_leak *leak, void *arg);

/*
 * haft_leak_format - a leak in one line, without a line end: as above, from the name on.
 *
 * Progress  blocking (dladdr).
 * Cost      some snprintfs, and looking the site up.
 */
int haft_leak_format(const haft_leak *leak, char *text, size_t size);

/*
 * haft_site_format - a site in words: "spawn+0x41 (game+0x2c51)", the function, and the program or
 * library with the offset in it, both of the calling instruction's last byte; less where less is
 * known, "somewhere" for NULL.
 *
 * Progress  blocking (dladdr).
 * Cost      looking the site up.
 */
int haft_site_format(const void *site, char *text, size_t size);

/* --- answers in words, for people: why an insertion failed, what became of an id --- */

/*
 * haft_table_explain, haft_local_explain - what a status that the table gave means now, in one line
 * without a line end:
 *
 *   players: full: capacity 4,096; 4,000 live, 90 reserved, 6 slots exhausted
 *   players: busy: 512 slots wait for a grace period, which has lasted 1.2 s; worker 0x55d0c0ffee40
 *   of thread 4711 holds it up
 *   players: in use: 2 workers open, and sides
 *
 * The numbers are those of this call, not of the one that failed.  Other statuses get the table's
 * name and their haft_status_text().
 *
 * Threads   any; haft_local: one.
 * Progress  wait-free; haft_table_explain with HAFT_IN_USE: blocking (a lock held for moments).
 * Cost      O(workers ever open at one time); haft_local: O(1).
 */
int haft_table_explain(const haft_table *table, haft_status status, char *text, size_t size);
int haft_local_explain(const haft_local *local, haft_status status, char *text, size_t size);

/*
 * haft_diagnose_format, haft_local_diagnose_format - what haft_diagnose() and its kin say of an id,
 * in one line without a line end; with the sites of its slot as far as they are the id's own, in a
 * table that was opened with `sites`:
 *
 *   ships: 17v3: the object has been freed (HAFT_STALE), at sink+0x41 (game+0x2d01); allocated at
 *   spawn+0x41 (game+0x2c51)
 *
 * Threads   any; haft_local: one.
 * Progress  wait-free; with `sites` blocking (dladdr).
 * Cost      O(1): some snprintfs, and looking sites up.
 */
int haft_diagnose_format(const haft_table *table, haft_id id, char *text, size_t size);
int haft_local_diagnose_format(const haft_local *local, haft_id id, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_DIAGNOSE_H */

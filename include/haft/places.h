/*
 * haft/places.h - where objects were allocated and freed: for finding leaks and stale ids.
 *
 * A table that is opened with `places` keeps for each slot where in the program it was last
 * reserved or inserted into, and where its object was freed: the address that the call of haft
 * returns to.  haft_diagnose_format() and its kin tell; so does the line with which haft_require()
 * ends the program; and when the table is closed, objects that are still live are reported.
 *
 * It costs 16 bytes a slot, and the short ways that tables else have to insert and free.  It works
 * in every build.  Functions have names in the texts where the program has them at run time
 * (-rdynamic); else `addr2line -e PROGRAM OFFSET` finds file and line.
 *
 * What a command set does, it does in haft_commands_apply(): that is the place then.
 */
#ifndef HAFT_PLACES_H
#define HAFT_PLACES_H

#include <haft/id.h>
#include <haft/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Objects that were live when their table was closed, all allocated at one place. */
typedef struct haft_leak {
    const char *table; /* its name */
    const void *place; /* NULL: not known, or one of so many that they are counted together */
    uint64_t count;
    haft_layout layout; /* to format the id with */
    haft_id first;      /* of these objects, the one with the lowest index */
} haft_leak;

/*
 * on_leak: called by haft_local_close(), haft_packed_close() and haft_table_close() of a table with
 * `places`, once for each place where objects that are still live were allocated, the most
 * objects first; before on_destroy runs for them.  It may not call the table.  Without one, each
 * is a line on stderr such as
 *
 *   haft: ships: 12 objects are live at closing, allocated at spawn+0x41 (game+0x2c51), such as
 *   17v3
 */
typedef void haft_on_leak(const haft_leak *leak, void *arg);

/*
 * haft_leak_format - a leak in one line, without a line end: as above, from the name on.
 *
 * Returns   the number of characters without the final zero, as snprintf does: more than size - 1
 *           means that the text was cut.
 * Threads   any.
 * Ordering  none.
 * Progress  blocking (dladdr).
 * Cost      some snprintfs, and looking the place up.
 */
int haft_leak_format(const haft_leak *leak, char *text, size_t size);

/*
 * haft_place_format - a place in words: "spawn+0x41 (game+0x2c51)", the function, and the program
 * or library with the offset in it, both of the calling instruction's last byte.  Without the
 * function where it has no name; "0x55d0c0ffee41" where nothing is known; "somewhere" for NULL.
 *
 * Returns   as haft_leak_format().
 * Threads   any.
 * Ordering  none.
 * Progress  blocking (dladdr).
 * Cost      looking the place up.
 */
int haft_place_format(const void *place, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_PLACES_H */

/*
 * haft/local.h - the handle table of one thread: slots with holes, stable addresses.
 *
 * The same ids, slots and resolve as the shared table, without worker, domain or read section:
 *
 *   void *object = haft_resolve(haft_local_view(local), id);
 *
 * All functions: one thread at a time, no ordering, no locks.
 */
#ifndef HAFT_LOCAL_H
#define HAFT_LOCAL_H

#include <haft/status.h>
#include <haft/view.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_local haft_local;

typedef struct haft_local_options {
    const char *name;          /* for messages; copied; NULL: "local table" */
    uint64_t capacity;         /* objects that fit; 1 to 2^index_bits - 4 */
    size_t object_size;        /* bytes, up to 2^30; 0: an allocator of ids alone */
    size_t object_alignment;   /* a power of two up to 4096; 0: 8 */
    haft_layout layout;        /* all zero: HAFT_LAYOUT_32_32 */
    uint64_t tag;              /* fits tag_bits */
    uint64_t first_generation; /* of each slot's first life; 0: 1 */
} haft_local_options;

/*
 * haft_local_open - a new table.
 *
 * Returns   HAFT_OK and the table in `*local`.  Otherwise `*local` is untouched:
 *             HAFT_BAD_LAYOUT, HAFT_BAD_CAPACITY, HAFT_BAD_OBJECT_SIZE,
 *             HAFT_BAD_OBJECT_ALIGNMENT, HAFT_BAD_TAG, HAFT_BAD_FIRST_GENERATION
 *                              the option of that name
 *             HAFT_NO_MEMORY   no address space or memory
 * Threads   any one.
 * Ordering  none.
 * Progress  blocking (mmap, malloc).
 * Cost      O(1): memory is touched when slots are first used.
 */
haft_status haft_local_open(const haft_local_options *options, haft_local **local);

/*
 * haft_local_close - the end of the table and of all objects in it.
 *
 * Returns   nothing.
 * Threads   one.
 * Ordering  none.
 * Progress  blocking (munmap).
 * Cost      O(memory touched), in the system.
 */
void haft_local_close(haft_local *local);

/*
 * haft_local_view, haft_local_layout, haft_local_name - as the table was opened.
 *
 * Returns   the view, for haft_resolve() and its kin; the layout; the name.
 * Threads   one.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
haft_view haft_local_view(const haft_local *local);
haft_layout haft_local_layout(const haft_local *local);
const char *haft_local_name(const haft_local *local);

/*
 * haft_local_reserve - a slot whose id is not live yet.
 *
 * Returns   HAFT_OK, the id that haft_local_publish() will make live, and the object's bytes,
 *           contents undefined, in `*object` (NULL may be passed).  Otherwise both are untouched:
 *             HAFT_FULL        the capacity is in use (or exhausted)
 *             HAFT_NO_MEMORY   the system refused memory (strict overcommit)
 * Threads   one.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
haft_status haft_local_reserve(haft_local *local, haft_id *id, void **object);

/*
 * haft_local_publish, haft_local_abort - make a reserved id live; or give it up: it will never be
 * live, and its slot is free at once.
 *
 * Returns   nothing.
 * Threads   one.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
void haft_local_publish(haft_local *local, haft_id id);
void haft_local_abort(haft_local *local, haft_id id);

/*
 * haft_local_insert - reserve, copy object_size bytes from `object` (NULL: zeros), publish.
 *
 * Returns   as haft_local_reserve().
 * Threads   one.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1), and the copy.
 */
haft_status haft_local_insert(haft_local *local, const void *object, haft_id *id);

/*
 * haft_local_free - end an object's life.  Its slot is reused next, under another id; a slot
 * that has lived its last generation is never used again.
 *
 * Returns   HAFT_OK.  Otherwise nothing has changed, and the status is what
 *           haft_local_diagnose() says of the id.
 * Threads   one.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
haft_status haft_local_free(haft_local *local, haft_id id);

/*
 * haft_local_diagnose - why an id does or does not resolve.
 *
 * Returns   as haft_diagnose() in haft/table.h.
 * Threads   one.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
haft_status haft_local_diagnose(const haft_local *local, haft_id id);

/*
 * haft_local_for_each - call `visit` for each live object, in order of index.  The visitor may
 * free any object and insert; an object inserted meanwhile may or may not be visited.
 *
 * Returns   the number of calls.  A visitor that returns false ends the walk.
 * Threads   one.
 * Ordering  none.
 * Progress  wait-free but for the visitor.
 * Cost      O(slots ever used).
 */
uint64_t haft_local_for_each(haft_local *local, bool (*visit)(haft_id id, void *object, void *arg),
                             void *arg);

/*
 * haft_local_clear - free every live object and give every reservation up.  All ids from before
 * are stale for ever.
 *
 * Returns   nothing.
 * Threads   one; not from a visitor of haft_local_for_each().
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(slots ever used).
 */
void haft_local_clear(haft_local *local);

/*
 * haft_local_count - the number of live objects.
 *
 * Returns   that.
 * Threads   one.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
uint64_t haft_local_count(const haft_local *local);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_LOCAL_H */

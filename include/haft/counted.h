/*
 * haft/counted.h - the handle table for any thread: objects are held by counts.
 *
 *   haft_counted *sessions;
 *   haft_counted_open(&(haft_counted_options){.capacity = 1000, .object_size = sizeof(session)},
 *                     &sessions);
 *   haft_counted_insert(sessions, &new_session, &id);
 *
 *   session *held = haft_counted_acquire(sessions, id); // any thread; NULL: the id is stale
 *   if (held != NULL) {
 *       ...                                             // it may sleep, and go on elsewhere
 *       haft_counted_release(sessions, id);
 *   }
 *   haft_counted_free(sessions, id); // no new holders; it ends now, or with its last release
 *
 * Threads need no set-up and leave nothing behind.  A freed object ends in the call that frees it,
 * or in the last release, before that call returns: then `on_destroy` has run, and the slot is free
 * again.  Nothing waits for other threads but haft_counted_close_wait(), and opening, closing and
 * abandoning a table for a lock that all tables share.
 *
 * What ends inside an on_destroy of the same table is destroyed after that on_destroy has returned,
 * and before the outermost call of haft does, in no promised order: a parent's on_destroy cannot
 * wait for its child's.  So is what a signal handler ends that has interrupted a call which
 * destroys.  on_destroy returns, on its thread: no longjmp, no exception, no change of fibers.
 *
 * Signals: acquire and copy in any handler, free and release if on_destroy may be called there.  In
 * a library loaded by dlopen() a thread may allocate when it first ends an object: end one before
 * its handlers do.
 *
 * The child of a fork goes on.  What other threads held stays held there, and calls of theirs that
 * the fork cut off keep their slots: then the child cannot close the table, but abandon it.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   any.
 * Ordering  none.
 * Progress  lock-free.
 * Cost      O(1).
 */
#ifndef HAFT_COUNTED_H
#define HAFT_COUNTED_H

#include <haft/detail/inline.h>
#include <haft/detail/options.h>
#include <haft/detail/stats.h>
#include <haft/diagnose.h>
#include <haft/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_counted haft_counted;

/*
 * Runs once for each object that was live and is freed, without a lock held and with cancellation
 * off.  `id` is stale already; the object's bytes stay until this returns.  It may call any
 * function of this header on the table but haft_counted_abandon(); closing answers HAFT_IN_USE.
 */
typedef void haft_counted_destroy(void *object, haft_id id, void *arg);

typedef struct haft_counted_options {
    const char *name;          /* for messages; copied; NULL: "counted table" */
    uint64_t capacity;         /* objects that fit; 1 to 2^index_bits - 4, at most 2^30 - 4 */
    size_t object_size;        /* bytes, up to 2^30; 0: an allocator of ids */
    size_t object_alignment;   /* power of two up to 4096; 0: as haft/detail/options.h says */
    haft_layout layout;        /* all zero: HAFT_LAYOUT_32_32; at most 32 generation_bits */
    uint64_t tag;              /* fits tag_bits */
    uint64_t first_generation; /* of each slot's first life; 0: 1; or HAFT_RANDOM_GENERATION */

    uint64_t min_free; /* slots freed after a slot before that is reused; 0: it may be at once;
                        * together with the capacity at most what that may be */
    bool wrap;         /* after its last generation a slot goes on at generation 1: ids repeat */
    bool copies;       /* haft_counted_copy(); objects of at most 64 bytes, which never change */
    bool wipe;         /* objects become zeros when they end */
    bool spread;       /* slots on cache lines of their own, for few objects in much use */

    haft_counted_destroy *on_destroy; /* NULL: nothing */
    void *destroy_arg;
    haft_on_bad_access *on_bad_access; /* of haft_counted_require(); NULL: abort */
    void *report_arg;                  /* passed to on_bad_access */

    void *memory; /* of the program, for all that the table needs: see haft_counted_footprint() */
    uint64_t memory_size;
    const struct haft_allocator *allocator; /* copied; NULL: malloc.  See haft/memory.h */

    uint64_t reserved[2]; /* 0; for options of a later version */
} haft_counted_options;

/*
 * How long ids last.  A generation of b bits gives a slot 2^b - 1 lives; with `wrap` its ids repeat
 * then.  Without min_free a thread mostly uses the slot that it freed last next, so 2^b - 1 births
 * of one object wear it out.  With min_free = m a slot's k-th life begins at the earliest with the
 * ((k - 1) * (m + 1) + 1)-th id that the table issues, whichever threads issue them; the m slots
 * are additional to the capacity.  20 + 12 bits and m = 500,000: 2 billion ids before one repeats.
 */

/*
 * haft_counted_open, haft_counted_open_sized - a new table.  It needs a capacity.
 *
 * Returns   HAFT_OK and the table in `*table`; HAFT_UNKNOWN_OPTION, or HAFT_BAD_ and the name of
 *           the option; HAFT_NO_MEMORY: no address space or memory, or `memory` is too small.
 * Progress  blocking (mmap, malloc, a lock: an export holds it while it counts).
 * Cost      O(1): memory is touched when slots are first used; up to 8 KiB of slots, or `memory`,
 *           are cleared.
 */
haft_status haft_counted_open_sized(const haft_counted_options *options, size_t size,
                                    haft_counted **table);
HAFT_INLINE haft_status haft_counted_open(const haft_counted_options *options, haft_counted **table)
{
    return haft_counted_open_sized(options, sizeof *options, table);
}

/*
 * haft_counted_footprint, haft_counted_footprint_sized - what a table with these options needs, to
 * be given as `memory` and `memory_size`; those two change nothing here.  The memory is private to
 * the process: a forked child has a copy.
 *
 * Returns   HAFT_OK and the footprint; what haft_counted_open() says of an option; HAFT_NO_MEMORY:
 *           more than a block can have.
 * Progress  wait-free.
 */
haft_status haft_counted_footprint_sized(const haft_counted_options *options, size_t size,
                                         haft_footprint *footprint);
HAFT_INLINE haft_status haft_counted_footprint(const haft_counted_options *options,
                                               haft_footprint *footprint)
{
    return haft_counted_footprint_sized(options, sizeof *options, footprint);
}

/*
 * haft_counted_close - free all objects, in order of index, and close the table if nothing of it is
 * in use.  From the first call on that is not made in an on_destroy, insertions answer HAFT_CLOSED.
 *
 * Returns   HAFT_OK: the table is gone.  Otherwise it stays, and may be closed again: HAFT_IN_USE,
 *           an object is held or reserved, a call is under way in another thread, or this is an
 *           on_destroy of the table.
 * Threads   one.  Beside the call that answers HAFT_OK only calls may run that give back a hold or
 *           a reservation which the table still counts, and insertions whose object was seen live.
 * Ordering  acquire on HAFT_OK: all earlier uses of the table are visible.
 * Progress  blocking (munmap, free; the lock of haft_counted_open()).
 * Cost      O(slots ever used).
 */
haft_status haft_counted_close(haft_counted *table);

/*
 * haft_counted_close_wait - the same, and wait until nothing is in use: for ever, where the calling
 * thread holds an object, or in a forked child a thread of its parent's.
 *
 * Returns   HAFT_OK: the table is gone.  HAFT_IN_USE: in an on_destroy of the table.
 * Threads   as haft_counted_close().
 * Ordering  as haft_counted_close().
 * Progress  blocking.
 * Cost      O(slots ever used) for each look: as slots are given back, else every 10 ms at most.
 */
haft_status haft_counted_close_wait(haft_counted *table);

/*
 * haft_counted_abandon - release the table's memory, whatever is in it, call nothing and wipe
 * nothing: in the child of a fork whose parent goes on with the objects.
 *
 * Threads   one, with no other call on the table.
 * Progress  blocking (munmap, free; the lock of haft_counted_open()).
 */
void haft_counted_abandon(haft_counted *table);

/*
 * haft_counted_info - what the table was opened with.
 *
 * Progress  wait-free.
 */
haft_info haft_counted_info(const haft_counted *table);

/* --- the way in --- */

/*
 * haft_counted_insert - reserve, copy object_size bytes from `object` (NULL: zeros), publish.  `id`
 * must not point into `*object`.  The object has no holder yet.
 *
 * Returns   HAFT_OK and the id in `*id`; or
 *             HAFT_FULL        at one moment of the call, all slots of the capacity were taken: by
 *                              objects live, or freed and not yet destroyed, by reservations, by
 *                              calls under way; or exhausted
 *             HAFT_NO_MEMORY   the system refused memory (strict overcommit)
 *             HAFT_CLOSED      the table is being closed
 * Ordering  release: a thread that acquires or copies the object sees all that came before.
 * Cost      O(1), and the copy.
 */
haft_status haft_counted_insert(haft_counted *table, const void *object, haft_id *id);

/*
 * haft_counted_reserve - a slot whose id is not live yet; HAFT_BAD_COPIES in a table with `copies`.
 *
 * Returns   as haft_counted_insert(), the object's bytes in `*object` (NULL may be passed),
 *           contents undefined.
 */
haft_status haft_counted_reserve(haft_counted *table, haft_id *id, void **object);

/*
 * haft_counted_publish, haft_counted_abort - a reserved id is live, or it never will be, and its
 * slot is free at once; on_destroy does not run.
 *
 * Ordering  haft_counted_publish: release, as haft_counted_insert().
 * Progress  wait-free; haft_counted_abort: lock-free.
 */
void haft_counted_publish(haft_counted *table, haft_id id);
void haft_counted_abort(haft_counted *table, haft_id id);

/* --- holding --- */

/*
 * haft_counted_acquire - hold an object: it stays until as many releases.
 *
 * Returns   the object's bytes; in a table with `copies` they are not to be changed.  NULL: the id
 *           is not live, or has 2^30 - 1 holders.
 * Ordering  acquire: all that was written before its publication is visible.
 */
void *haft_counted_acquire(haft_counted *table, haft_id id);

/*
 * haft_counted_require - the same for an id that must be live: else the table's on_bad_access, with
 * what haft_counted_diagnose() says; HAFT_IN_USE: it has 2^30 - 1 holders.
 *
 * Returns   as haft_counted_acquire().  NULL after on_bad_access has returned; without one the
 *           program is aborted.
 * Ordering  as haft_counted_acquire().
 */
void *haft_counted_require(haft_counted *table, haft_id id);

/*
 * haft_counted_again - one more hold for a caller that has one, also of an object that was freed.
 *
 * Returns   false: the object is not held, or has 2^30 - 1 holders.
 */
bool haft_counted_again(haft_counted *table, haft_id id);

/*
 * haft_counted_release - end a hold.  The last one of a freed object ends it: on_destroy runs.  One
 * release too many, while others hold the object, takes one of their holds.
 *
 * Returns   HAFT_OK; HAFT_NOT_HELD: no object with that id is held.
 * Ordering  release and acquire: on_destroy comes after all uses of all holders.
 * Progress  lock-free except for on_destroy.
 */
haft_status haft_counted_release(haft_counted *table, haft_id id);

/*
 * haft_counted_copy - the object's bytes, object_size of them, without holding it; only in a table
 * with `copies`.  No store to shared memory.
 *
 * Returns   whether the id was live at one moment of the call, with these bytes.  False: `*object`
 *           is untouched.
 * Ordering  acquire, as haft_counted_acquire().
 * Progress  wait-free.
 * Cost      O(object_size).
 */
bool haft_counted_copy(const haft_counted *table, haft_id id, void *object);

/* --- the way out --- */

/*
 * haft_counted_free - end an object's life: at once, or with its last release.
 *
 * Returns   HAFT_OK to one caller for each id; else what haft_counted_diagnose() says of the id.
 * Ordering  release and acquire, as haft_counted_release().
 * Progress  lock-free except for on_destroy.
 */
haft_status haft_counted_free(haft_counted *table, haft_id id);

/*
 * haft_counted_take - end the life of an object that has no holder, and copy its bytes to
 * `*object`; on_destroy does not run.
 *
 * Returns   HAFT_OK; HAFT_IN_USE: it is held; or as haft_counted_free().
 * Ordering  acquire: the bytes as the last holder left them.
 * Cost      O(1), and the copy.
 */
haft_status haft_counted_take(haft_counted *table, haft_id id, void *object);

/* --- looking --- */

/*
 * haft_counted_is_live - whether an id is live: a momentary answer.
 *
 * Ordering  acquire when true; none when false.
 * Progress  wait-free.
 */
bool haft_counted_is_live(const haft_counted *table, haft_id id);

/*
 * haft_counted_diagnose, haft_counted_diagnose_format - why an id is live or not: momentary, as a
 * status or in one line.  HAFT_STALE also of what is freed and still held and, once a slot has
 * wrapped (with 32 generation_bits, where it may), of all its dead ids.
 *
 * Returns   as haft_diagnose(); the format as snprintf.
 * Ordering  acquire for HAFT_OK; none otherwise.
 * Progress  wait-free.
 */
haft_status haft_counted_diagnose(const haft_counted *table, haft_id id);
int haft_counted_diagnose_format(const haft_counted *table, haft_id id, char *text, size_t size);

/*
 * haft_counted_id_at - the id of a slot by its index.
 *
 * Returns   as haft_id_at() in haft/table.h.
 * Ordering  acquire for HAFT_OK; none otherwise.
 * Progress  wait-free.
 */
haft_status haft_counted_id_at(const haft_counted *table, uint64_t index, haft_id *id);

/* Where a walk over the objects is; zeros: at the start. */
typedef struct haft_counted_cursor {
    uint64_t passed; /* slots */
} haft_counted_cursor;

/*
 * haft_counted_cursor_next - hold the next live object, in order of index; the caller releases it.
 * Objects live from the walk's start to its end come exactly once, others once or not at all; one
 * with 2^30 - 1 holders is left out.
 *
 *   haft_counted_cursor cursor = {0};
 *   while (haft_counted_cursor_next(table, &cursor, &id, &object)) {
 *       ...
 *       haft_counted_release(table, id);
 *   }
 *
 * Returns   true, the id in `*id` and the object in `*object`.  False, both untouched: the end.
 * Ordering  as haft_counted_acquire().
 * Cost      O(slots passed).
 */
bool haft_counted_cursor_next(haft_counted *table, haft_counted_cursor *cursor, haft_id *id,
                              void **object);

typedef struct haft_counted_stats {
    HAFT_COUNTED_STATS(HAFT_STATS_MEMBER)
    uint64_t room[HAFT_COUNTED_STATS_ROOM - (HAFT_COUNTED_STATS(HAFT_STATS_COUNT))]; /* 0 */
} haft_counted_stats;

/*
 * haft_counted_stats_get - the table's statistics: high_water is exact, the others are counted
 * beside other threads.
 *
 * Progress  wait-free.
 * Cost      O(slots ever used).
 */
haft_counted_stats haft_counted_stats_get(const haft_counted *table);

/*
 * haft_counted_explain - what a status that the table gave means now, in one line:
 *
 *   sessions: full: capacity 1,000; 990 live, 10 objects freed and still held or being destroyed
 *   sessions: in use: 1 slot reserved, 2 objects freed and still held or being destroyed
 *
 * Returns   as snprintf.
 * Progress  wait-free.
 * Cost      O(slots ever used).
 */
int haft_counted_explain(const haft_counted *table, haft_status status, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_COUNTED_H */

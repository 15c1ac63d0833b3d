/*
 * haft/kit/restore.h - ids of a haft_local that are chosen elsewhere: those of a saved game, or
 * that a server assigns.
 *
 * An on_destroy may call these functions too, but haft_local_load_begin() and _end().  While the
 * table closes, restoring answers HAFT_FULL.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   one at a time for each table.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_KIT_RESTORE_H
#define HAFT_KIT_RESTORE_H

#include <haft/kit/status.h>
#include <haft/local.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_local_restore - an object under an id of the caller's choice, as haft_local_insert() would
 * have made it.  When it is freed, its slot goes on with the next generation.  Slots below it that
 * were never used become free, to be reused before all others, the lowest first (with min_free,
 * once that many are free).
 *
 * Returns   HAFT_OK; or
 *             HAFT_NO_ID, HAFT_MALFORMED (also generation 0), HAFT_FOREIGN   as the id is
 *             HAFT_OUT_OF_RANGE   the index is beyond the capacity (and min_free)
 *             HAFT_OCCUPIED       the slot holds an object or a reservation
 *             HAFT_EXHAUSTED      the slot has lived all its generations
 *             HAFT_STALE          the slot's next generation is higher: stale ids would live again
 *                                 (not of a slot never used, with `wrap`)
 *             HAFT_FULL           haft_local_available() is 0
 *             HAFT_NO_MEMORY      the system refused memory (strict overcommit)
 * Progress  wait-free except for the system.
 * Cost      between haft_local_load_begin() and _end(): O(1).  Else O(free slots), and above the
 *           highest index used so far O(slots between), whose memory is touched.
 */
haft_status haft_local_restore(haft_local *local, haft_id id, const void *object);

/*
 * haft_local_reserve_at - the slot of an id of the caller's choice, as haft_local_restore() takes
 * it, for an object that is built in place: then haft_local_publish() or haft_local_abort().
 *
 * Returns   as haft_local_restore(), and the object's bytes, contents undefined, in `*object` (NULL
 *           may be passed).
 * Progress  wait-free except for the system.
 * Cost      as haft_local_restore().
 */
haft_status haft_local_reserve_at(haft_local *local, haft_id id, void **object);

/*
 * haft_local_restore_free - a free slot will go on with the id `next`; those before it are stale.
 * With generation 0 in `next`, the slot is exhausted.  The slot counts as freed just now.
 *
 * Returns   as haft_local_restore(), but generation 0 is not HAFT_MALFORMED, and HAFT_FULL is only
 *           for exhausted slots and while the table closes.
 * Progress  wait-free except for the system.
 * Cost      as haft_local_restore().
 */
haft_status haft_local_restore_free(haft_local *local, haft_id next);

/*
 * haft_local_for_each_slot - visit all that is to be saved, so that stale ids are stale after
 * loading.  Calls `visit` for each slot up to the highest one used, in order of index: for a live
 * one with its id and object, to be restored by haft_local_restore(); for others, reserved ones
 * too, with NULL and the id of the next life, for haft_local_restore_free(): if live objects alone
 * are loaded, stale ids come to life.  It may free objects; false ends the walk.
 *
 * Returns   the number of calls.
 * Progress  wait-free except for the visitor.
 * Cost      O(slots ever used).
 */
uint64_t haft_local_for_each_slot(haft_local *local,
                                  bool (*visit)(haft_id id, void *object, void *arg), void *arg);

/*
 * haft_local_load_begin, haft_local_load_end - restore many ids between these two, into a table
 * that is empty or not.  Meanwhile haft_local_reserve(), haft_local_insert(),
 * haft_local_reserve_capacity() and haft_local_trim() answer HAFT_LOADING.  At the end the free
 * slots are put in order: the lowest index is used first, but runs of pages without a used slot
 * come after the others, if there are more than 128 KiB of slots.
 *
 * Cost      O(1); load_end O(slots ever used).
 */
void haft_local_load_begin(haft_local *local);
void haft_local_load_end(haft_local *local);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_KIT_RESTORE_H */

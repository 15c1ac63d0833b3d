/*
 * haft/restore.h - ids chosen elsewhere, in a table that all threads share: such as those that a
 * server assigns.
 *
 * They live in the table's restore_range (haft/table.h): slots that the table itself never hands
 * out, before or after.  One that was freed may be restored again, at a higher generation, when
 * its grace period has passed.  To load a saved game, or ids over the whole table, restore into a
 * haft_local (haft/local.h) and share it (haft/share.h).
 */
#ifndef HAFT_RESTORE_H
#define HAFT_RESTORE_H

#include <haft/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_restore - an object under an id of the caller's choice, with object_size bytes copied from
 * `object` (NULL: zeros).  Of all callers racing on one slot, one succeeds.  It is freed as any
 * other, by any worker, and on_reclaim runs once for it.
 *
 * Returns   HAFT_OK: the object is live.  Otherwise nothing has changed:
 *             HAFT_NO_ID, HAFT_MALFORMED (also generation 0), HAFT_FOREIGN   as the id is
 *             HAFT_OUT_OF_RANGE   the index is beyond the restore_range
 *             HAFT_OCCUPIED       the slot holds an object, or another caller is restoring one
 *             HAFT_EXHAUSTED      the slot has lived all its generations
 *             HAFT_STALE          the slot's next generation is higher: stale ids would live again
 *             HAFT_FULL           with exact_capacity: so many objects are live or reserved
 *             HAFT_BUSY           the slot's last object was freed, and waits for its grace period,
 *                                 for a pin, or for a worker to hand on what it freed: try again
 *                                 after haft_worker_quiescent()
 * Threads   the worker's thread, inside or outside a read section.
 * Ordering  acquire: all readers of the slot's former object are done; release: what was written
 *           before is visible to whoever resolves the id.
 * Progress  lock-free (on_reclaim, where given, is the caller's).
 * Cost      one compare-and-swap, two shared counters, and the copy.  Before HAFT_BUSY: O(slots
 *           whose grace period has passed and that nobody has taken back).
 */
haft_status haft_restore(haft_worker *worker, haft_id id, const void *object);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_RESTORE_H */

/*
 * haft/pin.h - holding on to an object beyond a read section.
 *
 * A pinned object's memory is not reused before it is unpinned, across read sections, blocking
 * calls and a concurrent free: for a job that hands a pointer to a system call, or to a thread that
 * has no read sections.  A pin keeps the object's memory, not its id: the object may be freed at
 * any time, and then on_reclaim runs and the slot is reused after the last pin is gone.  Until then
 * the freed object takes up a slot, but does not count towards the capacity: if no other slot is
 * left, the answer is HAFT_BUSY.
 *
 * The table needs the option `pins` (a local table that is to be shared too): 8 bytes more in each
 * slot, and a read-modify-write for each slot that is reclaimed.  Without it no object can be
 * pinned.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_PIN_H
#define HAFT_PIN_H

#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAFT_PINS_MOST 0x7fffffffu /* of one object at one time */

/*
 * haft_pin - resolve, and keep the object's memory until haft_unpin().  The pin belongs to no
 * thread.
 *
 * Returns   the object; NULL if the id is stale, as haft_resolve(), if the object has
 *           HAFT_PINS_MOST pins, or if the table was opened without `pins`.
 * Threads   any thread inside a read section of the table's domain.
 * Ordering  as haft_resolve().
 * Cost      haft_resolve() and an atomic addition to the object's slot.
 */
void *haft_pin(haft_table *table, haft_id id);

/*
 * haft_unpin - give one pin back.  It runs no callback.  If only pins kept the slot of a freed
 * object, the last unpin makes it ready to be reclaimed: by the next insertion that finds no ready
 * slot, by a worker's duties (haft/table.h), by haft_trim() or at closing.  A chain of objects,
 * each of which unpins the next in on_reclaim, is reclaimed in a loop.
 *
 * Returns   HAFT_OK.  HAFT_NOT_PINNED, and nothing is done, if the id's object has no pin.
 * Threads   any, registered or not, inside or outside a read section, also in callbacks.
 * Ordering  release: all uses of the object come before the reuse of its memory.
 * Progress  lock-free.
 * Cost      one compare-and-swap; two for the last pin of a freed object.
 */
haft_status haft_unpin(haft_table *table, haft_id id);

/*
 * haft_pins - how many pins the object has that `id` names, or named until it was freed; 0 for
 * other ids.  A momentary answer, as haft_is_live().
 */
uint32_t haft_pins(const haft_table *table, haft_id id);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_PIN_H */

/*
 * haft/many.h - the calls of haft/table.h for many ids at once.
 *
 * Each id gets the result of a single call, in the order of the array; what many share is done
 * once, and the memory of later slots is fetched meanwhile.  A call that cannot do all does what it
 * can, says how far it came, and leaves the rest as it was.  A count of 0 does nothing.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   the worker's thread, inside or outside a read section.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_MANY_H
#define HAFT_MANY_H

#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_reserve_many - up to `count` slots that no other thread sees yet.
 *
 * Returns   how many were reserved: ids[i] and objects[i] are theirs (`objects` may be NULL), the
 *           rest of both arrays is untouched.  Less than `count` only when no more are to be had;
 *           then `*why` (NULL may be passed) says why: HAFT_FULL, HAFT_BUSY or HAFT_NO_MEMORY, as
 *           haft_reserve() does.  Else it is HAFT_OK.  Reservations are the caller's: it is
 *           published, or given up by haft_abort().
 * Ordering  as haft_reserve(), for each.
 * Progress  lock-free (on_reclaim, where given, is the caller's).
 * Cost      O(count), no atomic read-modify-write; one or two shared ones in a batch (up to 128).
 */
size_t haft_reserve_many(haft_worker *worker, haft_id *ids, void **objects, size_t count,
                         haft_status *why);

/*
 * haft_publish_many - the reserved ids are live from now on, in turn, not all at one moment.
 *
 * Threads   as haft_publish().
 * Ordering  as haft_publish(), for each.
 * Cost      O(count): one store each.
 */
void haft_publish_many(haft_worker *worker, const haft_id *ids, size_t count);

/*
 * haft_insert_many - insert up to `count` objects, which lie one after another, object_size bytes
 * each, from `objects` on (NULL: the objects' bytes are zeroed).
 *
 * Returns   how many were inserted, from the first on: ids[i] is objects[i]'s, the rest of `ids` is
 *           untouched.  Less than `count` only when there is no slot for the next; then `*why`
 *           (NULL may be passed) says why, as haft_reserve_many() does.  Else it is HAFT_OK.
 * Threads   as haft_insert().
 * Ordering  as haft_insert(), for each.
 * Progress  lock-free (on_reclaim, where given, is the caller's).
 * Cost      as haft_reserve_many(), and the copy.
 */
size_t haft_insert_many(haft_worker *worker, const void *objects, haft_id *ids, size_t count,
                        haft_status *why);

/*
 * haft_free_many - end the lives of `count` objects.  Of all callers racing on one id, one
 * succeeds; an id that stands in the array twice is freed by the first.
 *
 * Returns   how many were freed.  statuses[i] (`statuses` may be NULL) is what haft_free() says of
 *           ids[i]: HAFT_OK if this place in the array was the one to free it.
 * Threads   as haft_free(); the arrays are the caller's and may not overlap.
 * Ordering  as haft_free(), for each.
 * Progress  lock-free.
 * Cost      O(count): one compare-and-swap each; one or two shared operations more in a batch (up
 *           to 128).  Never allocates.
 */
size_t haft_free_many(haft_worker *worker, const haft_id *ids, size_t count, haft_status *statuses);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_MANY_H */

/*
 * haft/worker.h - a thread's own part of a table: allocating and freeing.
 *
 * A worker holds one batch of slots to hand out and one of slots it has freed; batches travel
 * through a ring that other workers may take from, and through the table's depot.  So nearly
 * all calls touch nothing that another thread writes, but for the slot itself.
 *
 * A worker belongs to the thread that opened it until it is closed.  If a thread may end anywhere,
 * haft_worker_current() (haft/implicit.h) closes its workers with it.  Debug builds assert that no
 * two threads are inside calls with it at one time, and, with the workers clock, that no other
 * thread passes its quiescent points.
 */
#ifndef HAFT_WORKER_H
#define HAFT_WORKER_H

#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_worker_open - a worker for the calling thread.
 *
 * Returns   HAFT_OK and the worker in `*worker`; HAFT_NO_MEMORY, with `*worker` untouched.
 * Threads   any.  With the workers clock the thread is online from its first worker on the domain
 *           to the close of its last: it must pass quiescent points, or every grace period waits
 *           for it.
 * Ordering  acquire from the close of the worker whose part it takes over.
 * Progress  lock-free, but for malloc when there are more workers than ever before.
 * Cost      O(workers ever open at one time).
 */
haft_status haft_worker_open(haft_table *table, haft_worker **worker);

/*
 * haft_worker_close - the end of a worker.  What it held becomes available to others.  Slots it
 * has reserved and neither published nor given up stay reserved.
 *
 * Returns   HAFT_OK.
 * Threads   the worker's thread, inside or outside a read section; not from on_reclaim.  If that
 *           has ended without closing it: one thread that knows so, as from joining it; what the
 *           worker held is not lost then.  With the workers clock the close of the thread's last
 *           worker on the domain is a quiescent point: pointers resolved before are void.
 * Ordering  release to the workers that take over what it held.
 * Progress  lock-free.
 * Cost      O(batch).
 */
haft_status haft_worker_close(haft_worker *worker);

/*
 * haft_worker_quiescent - tell the domain that this thread holds no resolved pointer now.  Call
 * it between jobs: every few thousand operations keep the slots in use under the most that
 * were ever live and 16,384 for each worker.
 *
 * It announces the quiescent state (qsbr, workers clock), hands on freed slots where that is worth
 * it (32 or more of them, or 128 while 64 batches of the worker wait; none freed since the call
 * before; or the table short of slots), and runs on_reclaim for what is due.  It waits for a grace
 * period when more than 8,192 of the worker's freed slots wait for one, or some worker has found no
 * slot since the call before, and no grace period is under way already; when more than 12,288 wait,
 * in any case.  With the frame clock it never waits.
 *
 * Returns   HAFT_OK.  HAFT_IN_SECTION, and nothing is done, if the calling thread is inside a
 *           read section (liburcu's flavours but for qsbr).
 * Threads   the worker's thread outside read sections of any domain (haft/section.h: offline in
 *           others).  With qsbr and the workers clock, pointers resolved before are void.
 * Ordering  release towards grace periods.
 * Progress  blocking, when it must wait.
 * Cost      O(1); workers clock: O(threads with workers) while 1,024 or more of the worker's slots
 *           wait, or any for an on_reclaim; a wait once in 8,192 frees, or when some worker has
 *           found no slot.
 */
haft_status haft_worker_quiescent(haft_worker *worker);

/*
 * haft_worker_flush - hand on all that the worker holds: slots it has freed, and slots it could
 * still reserve.  For a thread that will be idle for long.
 *
 * Returns   HAFT_OK.
 * Threads   the worker's thread, inside or outside a read section; not from on_reclaim.
 * Ordering  release to the workers that take over what it held.
 * Progress  lock-free.
 * Cost      O(batch).
 */
haft_status haft_worker_flush(haft_worker *worker);

/*
 * haft_worker_table - the table it was opened on.
 *
 * Returns   the table.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
haft_table *haft_worker_table(const haft_worker *worker);

/*
 * haft_reserve - a slot that nobody sees yet.
 *
 * Returns   HAFT_OK, the id that haft_publish() will make live in `*id`, and the object's bytes,
 *           contents undefined, in `*object` (NULL may be passed).  Otherwise both are untouched:
 *             HAFT_FULL        the table's capacity is in use, or so many slots are exhausted
 *                              that other workers may hold back all that is left
 *             HAFT_BUSY        slots wait for a grace period, or their freed objects are pinned:
 *                              try again after that, or use haft_reserve_wait(); or another thread
 *                              has the last of them in hand at this moment: try again
 *             HAFT_NO_MEMORY   the system refused memory (strict overcommit)
 * Threads   the worker's thread, inside or outside a read section.
 * Ordering  acquire: all readers of the slot's former object are done.
 * Progress  lock-free (on_reclaim, where given, is the caller's).
 * Cost      O(1), no atomic read-modify-write; once in a batch (up to 128) one or two shared ones.
 */
haft_status haft_reserve(haft_worker *worker, haft_id *id, void **object);

/*
 * haft_publish - the reserved id is live from now on.
 *
 * Returns   nothing.
 * Threads   the thread of the worker that reserved it, or one that it was handed to.
 * Ordering  release: what was written to the object before is visible to whoever resolves it.
 * Progress  wait-free.
 * Cost      O(1): one store.
 */
void haft_publish(haft_worker *worker, haft_id id);

/*
 * haft_abort - give a reserved slot up.  The id will never be live; on_reclaim is not called.
 *
 * Returns   nothing.
 * Threads   as haft_publish().
 * Ordering  none.
 * Progress  lock-free.
 * Cost      O(1).  The slot comes back as a freed one does, after a grace period.
 */
void haft_abort(haft_worker *worker, haft_id id);

/*
 * haft_insert - reserve, copy object_size bytes from `object`, publish.
 *
 * Returns   as haft_reserve(); on HAFT_OK the object is live.  `object` may be NULL: the object's
 *           bytes are then zeroed.
 * Threads   the worker's thread, inside or outside a read section.
 * Ordering  as haft_reserve() and haft_publish().
 * Progress  lock-free.
 * Cost      as haft_reserve(), and the copy.
 */
haft_status haft_insert(haft_worker *worker, const void *object, haft_id *id);

/*
 * haft_reserve_wait, haft_insert_wait - haft_reserve and haft_insert, waiting for grace periods
 * while the answer is HAFT_BUSY; and for another thread to unpin, where pins are the reason.
 *
 * Returns   as haft_reserve() and haft_insert(), but HAFT_BUSY only with the frame clock, where
 *           waiting cannot help.  With nothing done, if they would have to wait: HAFT_IN_SECTION
 *           inside a read section (liburcu's flavours but for qsbr), HAFT_FORKED in the child of a
 *           fork (haft/fork.h).
 * Threads   the worker's thread outside read sections, not from on_reclaim.  With qsbr and the
 *           workers clock a wait is a quiescent point of the thread: pointers resolved before are
 *           void.
 * Ordering  as haft_reserve() and haft_insert().
 * Progress  blocking: waits for readers.
 * Cost      as haft_reserve() and haft_insert(), or a grace period or more.
 */
haft_status haft_reserve_wait(haft_worker *worker, haft_id *id, void **object);
haft_status haft_insert_wait(haft_worker *worker, const void *object, haft_id *id);

/*
 * haft_free - end an object's life.  Of all callers racing on one id, one succeeds.
 *
 * Returns   HAFT_OK to the winner.  Otherwise nothing has changed, and the status is what
 *           haft_diagnose() says of the id:
 *             HAFT_STALE, HAFT_EXHAUSTED   freed before, or by another caller just now
 *             HAFT_RESERVED                not published yet: haft_abort() gives it up
 *             HAFT_FOREIGN                 another table's tag
 *             HAFT_NO_ID, HAFT_MALFORMED, HAFT_NEVER_ISSUED
 * Threads   the worker's thread, inside or outside a read section.  Any worker may free any id.
 * Ordering  acquire on HAFT_OK; none otherwise.  Others may read the object until a grace period
 *           has passed; on_reclaim runs after that.
 * Progress  lock-free.
 * Cost      O(1): one compare-and-swap; once in a batch (up to 128) one or two shared operations
 *           more.  Never allocates.
 */
haft_status haft_free(haft_worker *worker, haft_id id);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_WORKER_H */

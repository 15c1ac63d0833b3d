/*
 * haft/threads.h - threads that the program did not start, or that seldom use a table: a worker for
 * each thread that asks, and inserting and freeing without one; and the child of a fork, where one
 * thread remains.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any, registered or not, inside or outside a read section, also in callbacks.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_THREADS_H
#define HAFT_THREADS_H

#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- a worker for each thread that asks, closed when the thread ends --- */

/*
 * For code that is called on threads it did not start and cannot follow: a thread's first call
 * opens a worker on the table, later calls return it.  Code that knows its threads opens workers
 * itself (haft/table.h) and spares the look-up.
 */

/*
 * haft_worker_current - the calling thread's own worker on `table`, opened if need be.
 *
 * It is closed when the thread ends, at any moment and without a callback, or with the table:
 * haft_table_close() and haft_unshare() do not count implicit workers as open.  With the workers
 * clock it is different: there the thread is online from its first call on, and while it lives, a
 * close by another thread counts its implicit worker as open.  The thread may close it before
 * (haft_worker_close); its next call then opens another.
 * If the library is unloaded (dlclose) before the thread ends, the worker stays open.
 *
 * A thread that ends runs destructors in rounds, while any of them leaves something for the next,
 * and PTHREAD_DESTRUCTOR_ITERATIONS of them at most (4 on Linux).  A worker that a destructor asks
 * for in the last round, after the library's own has run, is not closed with the thread: it stays
 * open until the table is closed, and what it holds back stays with it.  With the workers clock it
 * then holds grace periods up and counts as open, until a thread that has joined its own closes it
 * (haft_worker_close).  So a destructor that is to work in the last round has its key made before
 * the first call of this function in the process, or opens and closes a worker.
 *
 * Returns   HAFT_OK and the worker in `*worker`; HAFT_NO_MEMORY, with `*worker` untouched.
 * Threads   any, also in destructors of thread-specific data (see above).  The worker is for the
 *           calling thread alone.
 * Ordering  as haft_worker_open(), the first time.
 * Progress  wait-free; blocking where it opens a worker: a lock, malloc.
 * Cost      two comparisons of thread-local data for the table that the thread asked for last, else
 *           O(its tables); in a shared library a call more to find the data, unless it is built
 *           with -ftls-model=initial-exec.
 */
haft_status haft_worker_current(haft_table *table, haft_worker **worker);

/* --- inserting and freeing without a worker, straight through the table --- */

/*
 * For threads that seldom use a table or cannot keep a worker: a helper, a plug-in, a destructor at
 * thread exit (not a signal handler, which could interrupt its own thread's call).  Reserving
 * borrows a worker that is closed, or makes one, and does its duties (haft/table.h) before it
 * returns the worker; the other calls need none, and never allocate, fail for want of memory or
 * call back.
 * Such threads may insert and free.  They neither resolve nor touch the object after it is
 * published, unless they are in a read section; with the workers clock that means an open worker.
 */

/*
 * haft_reserve_unregistered, haft_insert_unregistered - as haft_reserve() and haft_insert().
 *
 * Returns   as those; HAFT_NO_MEMORY too if no worker can be made.
 * Ordering  as those.
 * Progress  lock-free, except for malloc where a worker is made.
 * Cost      O(workers ever open at one time), and some six shared operations: several times a
 *           worker's call.
 */
haft_status haft_reserve_unregistered(haft_table *table, haft_id *id, void **object);
haft_status haft_insert_unregistered(haft_table *table, const void *object, haft_id *id);

/*
 * haft_reserve_wait_unregistered, haft_insert_wait_unregistered - the same, waiting for grace
 * periods while the answer is HAFT_BUSY.  With the caller clock they drive these themselves, and in
 * a program without workers they may be the only calls that do.
 *
 * Returns   as haft_reserve_wait(); HAFT_NO_MEMORY too if no worker can be made.
 * Threads   any, registered or not, outside read sections.  With qsbr and the workers clock a wait
 *           is a quiescent point of the thread: pointers resolved before are void.
 * Ordering  as haft_reserve() and haft_insert().
 * Progress  blocking: waits for readers.
 * Cost      as haft_reserve_unregistered(), or a grace period or more.
 */
haft_status haft_reserve_wait_unregistered(haft_table *table, haft_id *id, void **object);
haft_status haft_insert_wait_unregistered(haft_table *table, const void *object, haft_id *id);

/*
 * haft_publish_unregistered, haft_abort_unregistered - as haft_publish() and haft_abort(), for an
 * id that haft_reserve_unregistered() gave.
 *
 * Threads   the thread that reserved the id, or one that was handed it; also in callbacks.
 * Ordering  as those.
 * Progress  wait-free; abort: lock-free.
 * Cost      a store and an atomic addition; abort: three shared operations.  A slot given up can be
 *           reserved again at once, as no reader ever had the id.
 */
void haft_publish_unregistered(haft_table *table, haft_id id);
void haft_abort_unregistered(haft_table *table, haft_id id);

/* --- the child of a fork --- */

/*
 * The child has the memory of one instant and one thread of many.  The others stand still for ever,
 * perhaps with a lock held, perhaps inside a read section, perhaps with slots in hand.
 *
 * A program that does not call the functions below: the child may do what is wait-free or lock-free
 * with what the forking thread has open: resolve, diagnose, look at statistics, insert and free
 * with its own workers.  Calls that would wait, and those that close a table or a domain that was
 * open at the fork, answer HAFT_FORKED and do nothing.  All other calls on these may find a lock
 * held that no thread releases.  A child that calls exec or _exit needs nothing.
 *
 * A program that calls them around each fork: in the child
 *
 *   - each object is live that was live at the fork, and pinned or reserved if it was so then;
 *   - the forking thread's workers go on; it opens and closes workers, tables and domains as
 *     before, and may start threads that do;
 *   - command sets (haft/kit/commands.h) of a domain with the frame clock go on as well, with what
 *     has been recorded: they are the forking thread's, whichever thread used them last.  But one
 *     that another thread was opening or closing, or that it had a call with or with one of its
 *     recorders, is half changed: the child leaves it alone.  Its worker may stay open, and then
 *     its table cannot be closed;
 *   - the other workers of the other threads are closed.  Every slot that is neither live,
 *     reserved, exhausted nor kept by a pin is free or waits for a grace period, wherever it was at
 *     the fork: with a worker, between two, or in the middle of a call.  The statistics are right
 *     again; an object that another thread was inserting, and that the child does not have, may be
 *     counted in `created` and in `freed`;
 *   - on_reclaim runs for objects that were freed, as in the parent; but not for the one object
 *     that each other thread may have had in hand: for which it had begun, or whose slot the thread
 *     was moving into or out of a list;
 *   - a reservation that another thread was about to publish or give up stays reserved, and a table
 *     or domain that another thread was opening or closing is lost: a lost table's domain can be
 *     closed all the same.  A side that another thread was closing stays open, and so does its
 *     table;
 *   - the clocks go on without the other threads:
 *
 *       workers clock                    as before
 *       frame clock                      as before
 *       thread or caller clock, by what after_fork() of the foreign clock says (haft/clock.h):
 *         true (bp)                      the caller clock: no background thread
 *         false (liburcu's others)       the frame clock: haft_domain_tick() ends grace periods,
 *                                        and what would wait says HAFT_BUSY.  It calls the foreign
 *                                        clock no more, which would wait for threads that are gone
 *         NULL                           the domain cannot wait: HAFT_FORKED, as without the calls
 *
 *   Nothing waits for a thread that is gone, so nothing hangs, nor does closing.
 *
 * Either way the export (haft/kit/export.h) is the parent's.  The child may open its own, and
 * domains and tables, and close these.
 *
 * A domain that the child opens has the workers or the frame clock, or a foreign clock that can
 * wait in the child: one whose after_fork() has answered true, or that no other thread of the
 * parent was registered with at the fork.  The wait() of any other (liburcu's except bp) may wait
 * for ever for threads that are gone, also where the parent had no domain with that clock:
 * haft_domain_open() cannot tell.
 *
 * To have them called around every fork:
 *
 *   pthread_atfork(haft_before_fork, haft_after_fork_parent, haft_after_fork_child);
 *
 * With bp the program calls liburcu's own as well, around these: urcu_bp_before_fork() first, and
 * urcu_bp_after_fork_parent() or urcu_bp_after_fork_child() last.  (With pthread_atfork: register
 * liburcu's three after haft's.)  Without them what waits in the child may wait for ever.
 */

/*
 * haft_before_fork - take the lock of the lists of tables, domains and implicit workers.  Until
 * haft_after_fork_parent() other threads wait where they open or close one of these or a side of a
 * shared table, where they end with an implicit worker, or open or write an export; the export's
 * thread writes later.  No other call waits, and this one waits for no callback.  The calling
 * thread may also write and close its export.
 *
 * Threads   the one that forks next, not between haft_section_begin() and haft_section_end(), not
 *           from a callback.  Calls nest: for each one there is one of the functions below.
 * Progress  blocking: a lock that is held for short moments.
 */
void haft_before_fork(void);

/*
 * haft_after_fork_parent - the parent's other threads go on.  Call it also if fork failed.
 *
 * Threads   the one that called haft_before_fork().
 * Progress  wait-free, except for waking threads.
 */
void haft_after_fork_parent(void);

/*
 * haft_after_fork_child - the child's one thread is the only one from now on.  It collects the free
 * slots of all tables.  Inside a callback, which the contract of haft_before_fork() excludes, debug
 * builds assert; others leave the slots of the tables where they are.
 *
 * Threads   the child's one thread, before it calls anything else of haft.
 * Cost      O(slots ever used, of all open tables): it writes to the words of free slots, so pages
 *           that the child shared with its parent are copied.
 */
void haft_after_fork_child(void);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_THREADS_H */

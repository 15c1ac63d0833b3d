/*
 * haft/threads.h - threads that you did not start, or that come along seldom: a worker for
 * whichever thread asks, and inserting and freeing without one.
 */
#ifndef HAFT_THREADS_H
#define HAFT_THREADS_H

#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- a worker for whichever thread asks, closed when the thread ends --- */

/*
 * For code that is called on threads it did not start and cannot follow: a thread's first call
 * opens a worker on the table, later calls return it.  Code that knows its threads opens workers
 * itself (haft/table.h) and spares the look-up.
 */

/*
 * haft_worker_current - the calling thread's own worker on `table`, opened if need be.
 *
 * It is closed when the thread ends, or with the table: haft_table_close() and haft_unshare() do
 * not count implicit workers as open.  Nobody else closes it.  With the workers clock the thread
 * is online from the first call on, and an implicit worker counts as open while its thread lives,
 * but for the thread that closes the table.
 *
 * A thread that ends runs destructors in rounds, while any of them leaves something for the next,
 * and PTHREAD_DESTRUCTOR_ITERATIONS of them at most (4 on Linux).  A worker that a destructor asks
 * for in the last round, after the library's own has run, is not closed with the thread: it stays
 * open until the table is closed, and what it holds back stays with it.  With the workers clock it
 * then holds grace periods up and counts as open, until a thread that has joined its own closes it
 * (haft_worker_close).  So a destructor that is to work in the last round has its key made before
 * the first call of this function in the process, or opens and closes a worker of its own.
 *
 * Returns   HAFT_OK and the worker in `*worker`; HAFT_NO_MEMORY, with `*worker` untouched.
 * Threads   any, also in destructors of thread-specific data (see above).  The worker is for the
 *           calling thread alone.
 * Ordering  as haft_worker_open(), the first time.
 * Progress  wait-free for the table that the thread asked for last; else O(its tables); the first
 *           time blocking: a lock, malloc.
 * Cost      two comparisons of thread-local data; in a shared library a call more to find these,
 *           unless it is built with -ftls-model=initial-exec.
 */
haft_status haft_worker_current(haft_table *table, haft_worker **worker);

/* --- inserting and freeing without a worker, straight through the table --- */

/*
 * For threads that come along seldom or cannot keep a worker: a helper, a plug-in, a destructor at
 * thread exit (no signal handler, which could interrupt its own thread's call).  All of them share
 * one worker behind a lock, which holds no slots back.  on_reclaim may run with the lock held:
 * those of two tables that call these functions, or haft_unpin(), crosswise can block one another
 * for ever.  To resolve, a thread needs a read section as ever; with the workers clock that means a
 * worker of its own, so such threads may insert and free there, but not resolve.
 */

/*
 * haft_table_reserve, haft_table_insert - as haft_reserve() and haft_insert().
 *
 * Returns   as those; HAFT_NO_MEMORY too if the shared worker cannot be set up (the first call).
 * Threads   any, registered or not, inside or outside a read section.
 * Ordering  as those.
 * Progress  blocking: a lock.
 * Cost      a lock and a batch of one slot: about ten times a worker's.
 */
haft_status haft_table_reserve(haft_table *table, haft_id *id, void **object);
haft_status haft_table_insert(haft_table *table, const void *object, haft_id *id);

/*
 * haft_table_publish, haft_table_abort - as haft_publish() and haft_abort(), for an id that
 * haft_table_reserve() gave.
 *
 * Returns   nothing.
 * Threads   any.
 * Ordering  as those.
 * Progress  blocking: a lock.
 * Cost      a lock; abort: a shared operation.
 */
void haft_table_publish(haft_table *table, haft_id id);
void haft_table_abort(haft_table *table, haft_id id);

/*
 * haft_table_free - as haft_free().
 *
 * Returns   as that; HAFT_NO_MEMORY, with nothing changed, if the shared worker cannot be set up.
 * Threads   any, inside or outside a read section.  Any id, whoever inserted it.
 * Ordering  as haft_free().
 * Progress  blocking: a lock.
 * Cost      a lock and a shared operation.
 */
haft_status haft_table_free(haft_table *table, haft_id id);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_THREADS_H */

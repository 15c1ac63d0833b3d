/*
 * haft/threads.h - threads that the program did not start, or that seldom use a table: a worker for
 * each thread that asks, and inserting and freeing without one.
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

#ifdef __cplusplus
}
#endif

#endif /* HAFT_THREADS_H */

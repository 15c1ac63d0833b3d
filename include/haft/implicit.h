/*
 * haft/implicit.h - a worker for whichever thread asks, closed when the thread ends.
 *
 * For code that is called on threads it did not start and cannot follow: a thread's first call
 * opens a worker on the table, later calls return it.  Code that knows its threads opens workers
 * itself (haft/worker.h) and spares the look-up.
 */
#ifndef HAFT_IMPLICIT_H
#define HAFT_IMPLICIT_H

#include <haft/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif /* HAFT_IMPLICIT_H */

/*
 * concurrent/worker/worker_list.h - the workers of a table: a list that only grows, newest first.
 *
 *   for (haft_worker *w = worker_list_first(table); w != NULL; w = w->next)
 *
 * A worker that is closed stays in the worker list, with its rings and its extent, until a thread
 * opens or borrows it.  All functions: any thread, lock-free.
 */
#ifndef HAFT_CONCURRENT_WORKER_LIST_H
#define HAFT_CONCURRENT_WORKER_LIST_H

#include "concurrent/worker/state.h"
#include <assert.h>

haft_worker *worker_list_first(const haft_table *table);

/* How many are open or borrowed. */
uint64_t worker_list_open(const haft_table *table);

/* A new worker in the state `state` of the calling thread; NULL: worker_list_why_none(). */
haft_worker *worker_list_add(haft_table *table, enum worker_state state);

/* Why there is none to open or to borrow: HAFT_CLOSED or HAFT_NO_MEMORY. */
haft_status worker_list_why_none(const haft_table *table);

/* No thread opens a worker from now on, and open ones find no slots.  Whether all are closed. */
bool worker_list_end(haft_table *table);
bool worker_list_has_ended(const haft_table *table);

/* The memory of all workers, when no thread has any. */
void worker_list_free(haft_table *table);

/*
 * A worker that was closed, in that state, or else a new one; after worker_list_end() one that was
 * ended, to be borrowed.  NULL: worker_list_why_none().
 */
haft_worker *worker_list_take(haft_table *table, enum worker_state state);

/* The worker, which is open, is the calling thread's from now on: it was handed over. */
void worker_change_thread(haft_worker *worker);

/* The worker is closed from now on: another thread may have it. */
void worker_list_put_back(haft_worker *worker);

/* A snapshot of its state; whether the thread with that number has it open; whether it is the
 * calling thread's, open or borrowed. */
enum worker_state worker_state(const haft_worker *worker);
bool worker_is_open_by(const haft_worker *worker, uint64_t thread);
bool worker_is_own(const haft_worker *worker);

/*
 * The check of each call with a worker in debug builds.  (Not in hooked ones: there it would only
 * be more steps to explore.)
 */
static inline void debug_check(const haft_worker *worker)
{
    (void)worker;
    assert((!debug_is_on() || worker_is_own(worker)) &&
           "only its thread uses a worker, until the worker is closed");
}

/* The same for each call that looks at objects. */
static inline void debug_check_reader(const haft_table *table)
{
    (void)table;
    assert((!debug_is_on() || domain_may_read(table->domain)) &&
           "with the workers clock, threads that look at objects have an open worker, "
           "and are not offline or parked");
}

#endif /* HAFT_CONCURRENT_WORKER_LIST_H */

/*
 * haft/unregistered.h - inserting and freeing without a worker, straight through the table.
 *
 * For threads that come along seldom or cannot keep a worker: a helper, a plug-in, a destructor at
 * thread exit (no signal handler, which could interrupt its own thread's call).  All of them share
 * one worker behind a lock, which holds no slots back.  on_reclaim may run with the lock held:
 * those of two tables that call these functions, or haft_unpin(), crosswise can block one another
 * for ever.  To resolve, a thread needs a read section as ever; with the workers clock that means a
 * worker of its own, so such threads may insert and free there, but not resolve.
 */
#ifndef HAFT_UNREGISTERED_H
#define HAFT_UNREGISTERED_H

#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#endif /* HAFT_UNREGISTERED_H */

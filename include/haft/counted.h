/*
 * haft/counted.h - resolving that counts what it did not find, for haft_table_stats.
 *
 * haft_resolve() stores nothing, so stale ids leave no trace.  Where they should, a thread with a
 * worker resolves through it: an object that is found costs what it costs there, and one that is
 * not a call, which adds to a counter of the worker's own.
 */
#ifndef HAFT_COUNTED_H
#define HAFT_COUNTED_H

#include <haft/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_count_stale - count one id that was not live, in stale_resolves of the table's statistics.
 *
 * Returns   nothing.
 * Threads   the worker's thread.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1): a load and a store of the worker's own.
 */
void haft_count_stale(haft_worker *worker);

/*
 * haft_resolve_counted - haft_resolve, counting the ids that are not live.
 *
 * Returns   as haft_resolve().
 * Threads   the worker's thread, inside a read section; `view` is its table's.
 * Ordering  as haft_resolve().
 * Progress  wait-free.
 * Cost      as haft_resolve(); when NULL, haft_count_stale() more.
 */
static inline void *haft_resolve_counted(haft_worker *worker, haft_view view, haft_id id)
{
    void *object = haft_resolve(view, id);

    if (object == NULL) {
        haft_count_stale(worker);
    }
    return object;
}

#ifdef __cplusplus
}
#endif

#endif /* HAFT_COUNTED_H */

/*
 * haft/share.h - hand a local table over to all threads, and back.
 *
 * One thread builds a level, a document or a configuration in a haft_local; then every worker may
 * use it, without a copy: the slots stay where they are, so every id and every pointer holds
 * before, during and after, and so does the view.
 *
 *   haft_share(local, domain, NULL, &table);      `local` is used up
 *   ...                                           workers insert, resolve and free
 *   haft_unshare(table, &local);                  `table` is used up
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_SHARE_H
#define HAFT_SHARE_H

#include <haft/detail/inline.h>
#include <haft/local.h>
#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_share_options {
    /*
     * For objects freed while the table is shared: as in haft_table_options.  NULL: the local
     * table's on_destroy, if it has one, runs in its place, after the grace period.
     */
    haft_reclaim *on_reclaim;
    void *reclaim_arg;

    /* As in haft_table_options. */
    uint64_t waiting_bytes;
    bool never_wait;
} haft_share_options;

/*
 * haft_share, haft_share_sized - make a local table a shared one.  `options` may be NULL.
 *
 * What workers hold back comes from beyond the capacity: open the local table with `will_share`, or
 * there is little or no room for that, and workers work slot by slot (haft/local.h).  Free slots
 * are reused in no promised order, whatever `reuse` and `min_free` were.  A table with `memory`
 * keeps its slots there until it is closed; all else is its allocator's.  With `wrap` no memory is
 * released any more, also when it is a local table again.  haft_table_close() ends the table as any
 * shared one.
 *
 * Returns   HAFT_OK and the table in `*table`; `local` may not be used any more.  Otherwise nothing
 *           has changed:
 *             HAFT_IN_USE        objects are reserved and not published, a callback of the local
 *                                table runs, or a side is open (haft/kit/side.h)
 *             HAFT_LOADING       before haft_local_load_end()
 *             HAFT_IN_CALLBACK   inside a callback of a shared table
 *             HAFT_UNKNOWN_OPTION, HAFT_BAD_WAITING_BYTES   the option of that name
 *             HAFT_NO_MEMORY     for what a shared table has beside its slots
 * Threads   the local table's thread.  Hand `*table` over to others as any other pointer.
 * Progress  blocking (mmap, malloc).
 */
haft_status haft_share_sized(haft_local *local, haft_domain *domain,
                             const haft_share_options *options, size_t size, haft_table **table);
HAFT_INLINE haft_status haft_share(haft_local *local, haft_domain *domain,
                                   const haft_share_options *options, haft_table **table)
{
    return haft_share_sized(local, domain, options, sizeof *options, table);
}

/*
 * haft_unshare - make a shared table a local one, after waiting for readers and reclaiming all
 * freed slots.  No live object ends, and what on_reclaim inserts lives on.  A table of haft_share()
 * gets its former options back; one of haft_table_open() gets haft_local's defaults, and keeps
 * `wrap`.
 *
 * Reservations that closed workers have left stay reserved.  If objects, reservations and exhausted
 * slots are more than the local one's capacity, it grows to their number, and min_free falls to the
 * slots beside these.
 *
 * Returns   HAFT_OK and the local table in `*local`; `table` may not be used any more.  Otherwise
 *           it can be used as before:
 *             HAFT_IN_SECTION, HAFT_IN_CALLBACK, HAFT_FORKED   see haft/table.h
 *             HAFT_IN_USE   a worker is open, an object is pinned, or a side is open
 * Threads   as haft_table_close().  With qsbr and the workers clock it is a quiescent point.
 * Ordering  acquire: all that was done with the table before is visible.
 * Progress  as haft_table_close().
 * Cost      a grace period or more, or none, as haft_table_close(); O(slots ever used).
 */
haft_status haft_unshare(haft_table *table, haft_local **local);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_SHARE_H */

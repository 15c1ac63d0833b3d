/*
 * haft/scan.h - visiting the live objects of a shared table.
 *
 * What is promised, of each form below: an object that is live from the scan's start to its end is
 * visited exactly once, whatever the visitor and other threads do meanwhile.  One that is inserted
 * or freed during the scan is visited once or not at all.  Objects come in order of index; no id
 * comes twice.  The visitor may free any object, the one it was given too, and reserve and insert.
 *
 * A scan starts when its cursor is made, or when haft_scan_ranges() divides the table: slots first
 * used later are not part of it, so a scan whose visitor inserts comes to an end.  A scan of
 * several ranges ends when each of them has.
 *
 * Read sections: a visited object may be used until the section ends in which it was visited, even
 * if it is freed meanwhile; with qsbr and the workers clock that is the next quiescent point.  The
 * cursor itself is a place in the table: it may be put down when the section ends and taken up in
 * the next one, by this thread or by another, and no object that stays live is left out for that.
 *
 *   haft_cursor cursor = haft_cursor_over(table, HAFT_EVERYTHING);
 *   while (haft_cursor_next(&cursor, &id, &object)) { ... }
 *
 * Fresh slots are skipped without touching their memory, except for up to 128 in each worker's
 * hands, and those whose memory a local table released before it was shared.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any, also outside read sections, alongside any call but haft_table_close().
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_SCAN_H
#define HAFT_SCAN_H

#include <haft/detail/inline.h>
#include <haft/table.h>
#include <haft/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A value: a copy goes on independently, and needs no end. */
typedef struct haft_cursor {
    const haft_table *table;
    haft_run run; /* the stretch that it is in */
    uint64_t end; /* of the scan */
} haft_cursor;

/*
 * haft_cursor_over - a cursor in front of the first object of `range`.  The scan ends where the
 * table does, if that is before; a range that ends before it begins is empty.  What the caller
 * knows to be inserted will be visited.  No slot is touched.
 */
haft_cursor haft_cursor_over(const haft_table *table, haft_range range);

/*
 * haft_used_range - the first stretch of slots within `range` that are not fresh, for loops over
 * runs (haft/view.h).  Slots first used after the call began may be left out; no slot is touched.
 *
 * Returns   the stretch; an empty range at the end of `range` or of the table if there is none.
 * Threads   as haft_cursor_next().
 * Cost      O(workers ever open at one time) for each stretch of fresh slots passed, and O(runs of
 *           pages) where memory was released.
 */
haft_range haft_used_range(const haft_table *table, haft_range range);

/*
 * haft_cursor_next - the next live object.
 *
 * Returns   true, the object's id in `*id` and its bytes in `*object`.  False, with both untouched,
 *           at the end; then it stays there.
 * Threads   any inside a read section of the table's domain, alongside any call but
 *           haft_table_close(); one at a time with one cursor.
 * Ordering  acquire for each object: all that was written before haft_publish() is visible.
 * Cost      O(slots passed): one load and one comparison each, no store to shared memory; and
 *           haft_used_range() once for each stretch of fresh slots.
 */
HAFT_INLINE bool haft_cursor_next(haft_cursor *cursor, haft_id *id, void **object)
{
    while (!haft_run_next(&cursor->run, id, object)) {
        const uint64_t at = cursor->run.left.to;

        if (at == cursor->end) {
            return false;
        }
        cursor->run = haft_run_over(cursor->run.view,
                                    haft_used_range(cursor->table, HAFT_RANGE(at, cursor->end)));
    }
    return true;
}

/* Called with each object; false ends the scan. */
typedef bool haft_visit(haft_id id, void *object, void *arg);

/*
 * haft_scan - call `visit` with each live object of `range`.  Workers can share a scan: see
 * haft_scan_ranges().
 *
 * Returns   the number of calls.
 * Threads   as haft_cursor_next().
 * Ordering  as haft_cursor_next().
 * Progress  as haft_cursor_next(), except for the visitor.
 * Cost      as haft_cursor_next(), and a call for each object.
 */
uint64_t haft_scan(const haft_table *table, haft_range range, haft_visit *visit, void *arg);

/*
 * haft_scan_ranges - divide the table into `parts` ranges, for as many workers to scan at once.
 * Together they are one scan, which starts here: they follow one another, cover all slots ever
 * used, and have equally many of these, live or not, except for rounding.  What the caller knows to
 * be inserted is in some range.
 *
 * Two ranges meet where a slot and a page begin together, or in parts of few pages a slot and a
 * cache line.  If there are more parts than lines, the rest are empty.
 *
 * Cost      O(parts), and haft_used_range() twice for each stretch of fresh slots.
 */
void haft_scan_ranges(const haft_table *table, haft_range *ranges, size_t parts);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_SCAN_H */

/*
 * haft/explain.h - answers in words, for people: why an insertion failed, what became of an id.
 */
#ifndef HAFT_EXPLAIN_H
#define HAFT_EXPLAIN_H

#include <haft/local.h>
#include <haft/packed.h>
#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_table_explain, haft_local_explain, haft_packed_explain - what a status that the table gave
 * means now, in one line without a line end:
 *
 *   players: full: 4,096 objects, all live
 *   players: full: 4,096 objects fit: 4,000 live, 90 reserved, 6 slots exhausted
 *   players: busy: 512 slots wait for a grace period, which has lasted 1.2 s; worker 0x55d0c0ffee40
 *   of thread 4711 holds it up
 *   players: no memory: the system refused more than 65,536 slots of 32 bytes
 *
 * The numbers are those of this call, not of the one that failed.  Other statuses get the table's
 * name and their haft_status_text().
 *
 * Returns   the number of characters without the final zero, as snprintf does: more than size - 1
 *           means that the text was cut.
 * Threads   any; haft_local, haft_packed: one.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(workers ever open at one time); haft_local, haft_packed: O(1).
 */
int haft_table_explain(const haft_table *table, haft_status status, char *text, size_t size);
int haft_local_explain(const haft_local *local, haft_status status, char *text, size_t size);
int haft_packed_explain(const haft_packed *packed, haft_status status, char *text, size_t size);

/*
 * haft_diagnose_format, haft_local_diagnose_format, haft_packed_diagnose_format - what
 * haft_diagnose() and its kin say of an id, in one line without a line end; with the places of its
 * slot as far as they are the id's own, in a table that was opened with `places`:
 *
 *   ships: 17v3: the object has been freed (HAFT_STALE), at sink+0x41 (game+0x2d01); allocated at
 *   spawn+0x41 (game+0x2c51)
 *
 * Of an object killed in a packed table the status is HAFT_DEAD, and the place that of the kill.
 *
 * Returns   as above.
 * Threads   any; haft_local: one; haft_packed: any number of threads, while none changes the table.
 * Ordering  none.
 * Progress  wait-free; with `places` blocking (dladdr).
 * Cost      O(1): some snprintfs, and looking places up.
 */
int haft_diagnose_format(const haft_table *table, haft_id id, char *text, size_t size);
int haft_local_diagnose_format(const haft_local *local, haft_id id, char *text, size_t size);
int haft_packed_diagnose_format(const haft_packed *packed, haft_id id, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_EXPLAIN_H */

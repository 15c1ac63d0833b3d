/*
 * haft/recycle.h - slots that have lived all their generations, for a table that must go on.
 */
#ifndef HAFT_RECYCLE_H
#define HAFT_RECYCLE_H

#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_recycle_exhausted - exhausted slots live again, from the first generation.  Old ids may then
 * live again: those of these slots, in the order in which they were issued.  Call it when nobody
 * keeps ids that old.  Where that is never known, a larger layout helps, or the table's `wrap`,
 * where nothing is ever exhausted.
 *
 * An object that was freed in its last life and is still pinned or waits for its grace period is
 * not exhausted yet, and its slot is not taken.  Slots of the restore range can be restored
 * again.  Afterwards haft_diagnose() says HAFT_STALE of ids that these slots had, and may say so of
 * ids that were never issued.
 *
 * Returns   HAFT_OK, and how many slots in `*recycled` (NULL may be passed).  Otherwise nothing has
 *           changed:
 *             HAFT_BUSY        another thread is in this call or in haft_trim()
 *             HAFT_NO_MEMORY   none for a worker's part
 * Threads   any, registered or not, inside or outside a read section, alongside any call but
 *           haft_table_close() and haft_unshare(); not from on_reclaim.
 * Ordering  acquire: the last use of the slots' former objects is done.
 * Progress  blocking (malloc).  Others are never blocked by it.
 * Cost      O(slots ever used): one load each.
 */
haft_status haft_recycle_exhausted(haft_table *table, uint64_t *recycled);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_RECYCLE_H */

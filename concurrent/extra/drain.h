/*
 * concurrent/extra/drain.h - reclaiming all freed slots before a table is closed or handed over.
 */
#ifndef HAFT_CONCURRENT_DRAIN_H
#define HAFT_CONCURRENT_DRAIN_H

#include "concurrent/table/state.h"

/* Whether the calling thread may wait for readers now: HAFT_OK, HAFT_IN_CALLBACK, HAFT_FORKED,
 * HAFT_IN_SECTION. */
haft_status drain_check_moment(const haft_table *table);

/* The same for a table that is to end, in which no worker may be open: HAFT_IN_USE. */
haft_status drain_check_ending(const haft_table *table);

/*
 * Reclaim all slots that wait, each after its grace period or once `latest` is done, until
 * on_reclaim frees and unpins no more.  Blocking; one thread.
 */
void drain_waiting(haft_worker *worker, uint64_t latest);

/*
 * Bring a table in which no worker is open to the state in which its slots can be handed over: no
 * reader has a pointer, all freed slots are reclaimed.  HAFT_OK; or why not, and it can be used as
 * before.  Blocking; one thread, when no other thread uses the table.
 */
haft_status drain_table(haft_table *table);

/* Whether anything is attached, as far as the calling thread sees.  Wait-free. */
bool table_has_attached(const haft_table *table);

#endif /* HAFT_CONCURRENT_DRAIN_H */

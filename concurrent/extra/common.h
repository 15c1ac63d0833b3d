/* concurrent/extra/common.h - the worker of all threads that have none: see common.c. */
#ifndef HAFT_CONCURRENT_COMMON_H
#define HAFT_CONCURRENT_COMMON_H

#include "concurrent/table/table.h"

void common_init(haft_table *table);
void common_make_lock(haft_table *table);
void common_destroy(haft_table *table);

/* Make sure that there is one, with the lock held or the table not handed over yet. */
haft_status common_open(haft_table *table);

/* The worker, with the lock held even if it is NULL: there is no memory for the first one. */
haft_worker *common_lock(haft_table *table);
void common_unlock(haft_table *table);

/* pin.c: take back what was unpinned, with the lock held and outside on_reclaim. */
void pin_take_back(haft_table *table);

#endif /* HAFT_CONCURRENT_COMMON_H */

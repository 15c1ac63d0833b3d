/*
 * concurrent/table/open_tables.h - the shared tables that are open in this process, newest first;
 * under the registry's lock.
 */
#ifndef HAFT_CONCURRENT_OPEN_TABLES_H
#define HAFT_CONCURRENT_OPEN_TABLES_H

#include "concurrent/worker/state.h"

/* A table is in the list while its statistics can be taken. */
void tables_add(haft_table *table);
void tables_remove(haft_table *table);

/* Under the lock: for (t = first_open_table(); t; t = t->next_open). */
haft_table *first_open_table(void);

#endif /* HAFT_CONCURRENT_OPEN_TABLES_H */

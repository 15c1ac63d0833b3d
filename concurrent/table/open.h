/* concurrent/table/open.h - opening and ending a table.  One thread has it meanwhile. */
#ifndef HAFT_CONCURRENT_OPEN_H
#define HAFT_CONCURRENT_OPEN_H

#include "concurrent/worker/state.h"

/* A table of that name, with nothing in it, in the heap; NULL: no memory.  table_free() ends it. */
haft_table *table_new(const char *name, const haft_allocator *heap);
void table_free(haft_table *table);

/* Whether the option waiting_bytes is right for slots of that distance. */
haft_status table_check_waiting(uint64_t bytes, uint64_t stride);

/*
 * Set up all that a table has beside its slots.  Its slots, its capacity and its options are set.
 * HAFT_OK or HAFT_NO_MEMORY.  table_stop() undoes it.
 */
haft_status table_start(haft_table *table, haft_domain *domain);
void table_stop(haft_table *table);

/*
 * The shared tables that are open in this process, newest first, while their statistics can be
 * taken.  Under the registry's lock: for (t = first_open_table(); t; t = t->next_open).
 */
haft_table *first_open_table(void);

#endif /* HAFT_CONCURRENT_OPEN_H */

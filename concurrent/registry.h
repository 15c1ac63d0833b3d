/*
 * concurrent/registry.h - the shared tables that are open in this process, oldest last.
 *
 * Under a lock that opening and closing a table takes, and nothing else: while it is held, no table
 * in the list goes away.  A fork waits for it, so that the child can take it.
 */
#ifndef HAFT_CONCURRENT_REGISTRY_H
#define HAFT_CONCURRENT_REGISTRY_H

#include "concurrent/table.h"

/* From when its statistics can be taken until when they no longer can. */
void registry_add(haft_table *table);
void registry_remove(haft_table *table);

/* Begin and end to walk the list: for (t = registry_lock(); t; t = t->next_open). */
const haft_table *registry_lock(void);
void registry_unlock(void);

#endif /* HAFT_CONCURRENT_REGISTRY_H */

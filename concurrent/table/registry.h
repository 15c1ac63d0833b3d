/*
 * concurrent/table/registry.h - the domains and shared tables that are open in this process, newest
 * first.
 *
 * Under a lock that opening and closing them takes, writing an export, and a fork: while it is
 * held, none of them comes or goes.  A thread may take it again while it has it.
 */
#ifndef HAFT_CONCURRENT_REGISTRY_H
#define HAFT_CONCURRENT_REGISTRY_H

#include "concurrent/table/state.h"

void registry_add_domain(haft_domain *domain);
void registry_remove_domain(haft_domain *domain);

/* From when its statistics can be taken until when they no longer can. */
void registry_add_table(haft_table *table);
void registry_remove_table(haft_table *table);

void registry_lock(void);
void registry_unlock(void);

/* Under the lock: for (t = first_open_table(); t; t = t->next_open), and so for domains. */
haft_domain *first_open_domain(void);
haft_table *first_open_table(void);

/*
 * This process: of those that come from one another by fork, each has its own number, also where
 * they have process numbers of several namespaces.
 */
uint64_t registry_process(void);

#endif /* HAFT_CONCURRENT_REGISTRY_H */

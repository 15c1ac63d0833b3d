/*
 * concurrent/clock/registry.h - the domains that are open in this process, newest first.
 *
 * Under a lock that opening and closing domains and tables takes, writing an export, and a fork:
 * while it is held, none of them comes or goes.  A thread may take it again while it has it.
 */
#ifndef HAFT_CONCURRENT_REGISTRY_H
#define HAFT_CONCURRENT_REGISTRY_H

#include "concurrent/clock/state.h"

void registry_add_domain(haft_domain *domain);
void registry_remove_domain(haft_domain *domain);

void registry_lock(void);
void registry_unlock(void);

/* Under the lock: for (d = first_open_domain(); d; d = d->next_open). */
haft_domain *first_open_domain(void);

/*
 * This process: of those that come from one another by fork, each has its own number, also where
 * they have process numbers of several namespaces.
 */
uint64_t registry_process(void);

#endif /* HAFT_CONCURRENT_REGISTRY_H */

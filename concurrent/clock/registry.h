/*
 * concurrent/clock/registry.h - the domains that are open in this process, newest first.
 *
 * The list is under a lock.  Opening and closing a domain, a table, a side or an implicit worker,
 * writing an export and a fork take it: while a thread has it, none of these comes or goes.  That
 * thread may take it again.
 */
#ifndef HAFT_CONCURRENT_REGISTRY_H
#define HAFT_CONCURRENT_REGISTRY_H

#include "concurrent/clock/state.h"

void registry_add_domain(haft_domain *domain);
void registry_remove_domain(haft_domain *domain);

/* registry_try_lock: false if another thread has it. */
void registry_lock(void);
bool registry_try_lock(void);
void registry_unlock(void);

/* Under the lock: for (d = first_open_domain(); d; d = d->next_open). */
haft_domain *first_open_domain(void);

/*
 * A number of this process: processes that come from one another by fork have different ones, also
 * where their process numbers are of several namespaces.
 */
uint64_t registry_process(void);

#endif /* HAFT_CONCURRENT_REGISTRY_H */

/*
 * concurrent/clock/registry.h - the lock of opening and closing, and the number of the process.
 *
 * Opening and closing a table or a side, writing an export and a fork take the lock: while a thread
 * has it, none of these comes or goes.  That thread may take it again.
 */
#ifndef HAFT_CONCURRENT_REGISTRY_H
#define HAFT_CONCURRENT_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

/* registry_try_lock: false if another thread has it. */
void registry_lock(void);
bool registry_try_lock(void);
void registry_unlock(void);

/*
 * A number of this process: processes that come from one another by fork have different ones, also
 * where their process numbers are of several namespaces.
 */
uint64_t registry_process(void);

#endif /* HAFT_CONCURRENT_REGISTRY_H */

/*
 * concurrent/counted/open_list.h - the counted tables that are open in this process, newest first.
 */
#ifndef HAFT_CONCURRENT_COUNTED_OPEN_LIST_H
#define HAFT_CONCURRENT_COUNTED_OPEN_LIST_H

#include "concurrent/counted/state.h"

/* The list's lock, which forks wait for.  It is taken after the registry's, never before. */
void open_list_lock(void);
void open_list_unlock(void);

/* A table is in the list while its statistics can be taken. */
void open_list_add(haft_counted *table);
void open_list_remove(haft_counted *table);

/* Under the lock: the newest, which leads to the others by `next_open`; or NULL. */
const haft_counted *open_list_first(void);

#endif /* HAFT_CONCURRENT_COUNTED_OPEN_LIST_H */

/*
 * concurrent/counted/open_list.h - the counted tables that are open in this process, newest first.
 */
#ifndef HAFT_CONCURRENT_COUNTED_OPEN_LIST_H
#define HAFT_CONCURRENT_COUNTED_OPEN_LIST_H

#include "concurrent/counted/state.h"

/* The list's lock.  Forks wait for it, so that the child finds the list whole. */
void open_list_lock(void);
void open_list_unlock(void);

/* A table is in the list while its statistics can be taken. */
void open_list_add(haft_counted *table);
void open_list_remove(haft_counted *table);

#endif /* HAFT_CONCURRENT_COUNTED_OPEN_LIST_H */

/* lib/local/local_list.h - the free slots of a table of one thread. */
#ifndef HAFT_LIB_LOCAL_LIST_H
#define HAFT_LIB_LOCAL_LIST_H

#include "lib/local/state.h"

/* Begin an empty list, of the kind that the mode and the options ask for. */
void local_begin_list(haft_local *local);

/* A slot that is free and not on top of the stack: HAFT_OK, or why there is none. */
haft_status local_take(haft_local *local, uint64_t *index);

/* Slot `index` is free, and begins its next life from `word`. */
void local_push(haft_local *local, uint64_t index, uint64_t word);

/* Slot `index`, free wherever it is, is taken; its word says where its next life begins. */
void local_claim(haft_local *local, uint64_t index);

/* Whether the destructor of slot `index` is due.  O(slots where one is). */
bool local_is_ending(const haft_local *local, uint64_t index);

/* Take the slots out of the list that lie in runs that are RUN_CHOSEN. */
void local_drop_chosen(haft_local *local);

/* Make the list anew, in order of index; runs that have no slot in use become fresh runs. */
void local_rebuild(haft_local *local);

#endif /* HAFT_LIB_LOCAL_LIST_H */

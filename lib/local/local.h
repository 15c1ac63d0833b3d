/*
 * lib/local/local.h - a table of one thread comes and goes; steps in an object's life that
 * insertion and restoring share.
 */
#ifndef HAFT_LIB_LOCAL_H
#define HAFT_LIB_LOCAL_H

#include "lib/local/state.h"

/* A table of that name, else zero, in given memory or, if NULL, the heap.  NULL: no memory. */
haft_local *local_new(const char *name, struct given *given, const haft_allocator *heap);

/*
 * Make an empty table at the start of `block`, which ends with `name`.  The bytes between are
 * poisoned.  The caller sets slots.heap, which the block is from unless is_given.
 */
haft_local *local_make_in(void *block, bool is_given, const char *name);

/* Bytes from the struct to the end of its name. */
size_t local_block_size(const haft_local *local);

/* NULL is allowed. */
void local_free(haft_local *local);

/* The word after the life in `word`: its generation 0 if that was the last.  Index field END. */
uint64_t local_next_life(const haft_local *local, uint64_t word);

/* HAFT_OK, or why this is no moment to look at the whole table, or to replace it. */
haft_status local_check_moment(const haft_local *local);

#endif /* HAFT_LIB_LOCAL_H */

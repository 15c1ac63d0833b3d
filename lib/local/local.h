/*
 * lib/local/local.h - a table of one thread comes and goes; steps in an object's life that
 * insertion and restoring share.
 */
#ifndef HAFT_LIB_LOCAL_H
#define HAFT_LIB_LOCAL_H

#include "lib/local/state.h"

/*
 * A table of that name, all else zero, in given memory if that is not NULL, else in the heap; NULL:
 * no memory.  local_free() ends it; NULL is nothing.
 */
haft_local *local_new(const char *name, struct given *given, const haft_allocator *heap);

/*
 * A table at the beginning of a block that its name ends; all other members are zero.
 * AddressSanitizer reports a look at the bytes between the two.  The block is the program's memory,
 * or one of slots.heap, which the caller sets for local_free().
 */
haft_local *local_in(void *block, bool is_given, const char *name);

/* The bytes of that block. */
size_t local_block_size(const haft_local *local);
void local_free(haft_local *local);

/* The word after the life in `word`: its generation 0 if that was the last.  Index field END. */
uint64_t local_next_life(const haft_local *local, uint64_t word);

/* An object or an exhausted slot has come: on_fill, if it is time for it. */
void local_look_at_fill(haft_local *local);

/*
 * The same for the reservation of `id`.  Meanwhile no call reaches its slot: on_fill may clear the
 * table.
 */
void local_look_at_fill_for(haft_local *local, haft_id id);

#endif /* HAFT_LIB_LOCAL_H */

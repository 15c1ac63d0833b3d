/*
 * concurrent/counted/free_slots.h - where free slots are: in a shard or in the queue, or fresh.
 *
 * A slot goes from a list to a call and from the call to a list, never several at once and never
 * from list to list: slots in flight would make FULL a lie.
 */
#ifndef HAFT_CONCURRENT_COUNTED_FREE_SLOTS_H
#define HAFT_CONCURRENT_COUNTED_FREE_SLOTS_H

#include "concurrent/counted/state.h"

/* Heads that a table with these options has. */
uint64_t free_slots_heads(uint64_t capacity, uint64_t min_free);

/* Of a table whose block is all zero: nothing was used yet. */
void free_slots_setup(haft_counted *table);

/* A free slot, the caller's from now on: HAFT_OK, HAFT_FULL, HAFT_NO_MEMORY or HAFT_CLOSED. */
haft_status free_slots_take(haft_counted *table, uint64_t *index);

/*
 * Slot `index`, the caller's, is free for `life`.  Where the table is being closed this may be the
 * caller's last access to it.
 */
void free_slots_give(haft_counted *table, uint64_t index, uint32_t life);

/* One more than the highest index ever used. */
uint64_t free_slots_end(const haft_counted *table);

/* Take all free slots; from now on the calls above find the table closed.  By one thread. */
void free_slots_close(haft_counted *table);

#endif /* HAFT_CONCURRENT_COUNTED_FREE_SLOTS_H */

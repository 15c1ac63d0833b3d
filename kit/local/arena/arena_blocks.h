/*
 * kit/local/arena/arena_blocks.h - where an arena's memory comes from, and where it is kept.
 */
#ifndef HAFT_LIB_ARENA_BLOCKS_H
#define HAFT_LIB_ARENA_BLOCKS_H

#include "kit/local/arena/state.h"

/* `extent` bytes from another block than the one in use; or NULL, and nothing has changed. */
char *arena_take_elsewhere(struct arena *arena, size_t extent, size_t alignment);

/* Blocks of their own, down to `until`, are kept for later. */
void arena_keep_own(struct arena *arena, const struct block *until);
void arena_keep_all_own(struct arena *arena);

/*
 * All chain blocks behind `block` are poisoned, and `block` from `next` on; before it, the redzone
 * that the last allocation there may have grown over.
 */
void arena_poison_from(struct block *block, char *next);

/* Blocks that hold nothing go back to the allocator. */
void arena_free_spare(struct arena *arena);

#endif /* HAFT_LIB_ARENA_BLOCKS_H */

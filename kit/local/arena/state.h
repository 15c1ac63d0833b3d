/*
 * kit/local/arena/state.h - the structs of an arena.
 *
 * Blocks come in two kinds.  The chain: the first block, then each twice as large as the one
 * before, within bounds; those up to `block` are in use, `block` is where allocation goes on, those
 * behind it are kept for later.  Blocks of their own, for allocations too large for the chain's
 * next block, lie on one of two stacks: in use, or kept for later.
 *
 * From base to next a block is allocated, from next to end it is free, and poisoned under
 * AddressSanitizer.  With that, limit is next: the inline allocation never finds room, so each
 * allocation comes to the library, which poisons.
 */
#ifndef HAFT_LIB_ARENA_STATE_H
#define HAFT_LIB_ARENA_STATE_H

#include "lib/base/asan.h"
#include <haft/kit/arena.h>

struct block {
    struct block *next; /* in its chain or on its stack */
    char *base;         /* a multiple of HAFT_ARENA_ALIGNMENT */
    char *end;
    size_t size; /* as it came from the allocator; 0: it did not */
};

/* A function that runs on reset; lies in the arena. */
struct clean_up {
    struct clean_up *before; /* registered before this one */
    void (*function)(void *arg);
    void *arg;
};

struct arena {
    haft_arena head; /* first: a haft_arena is the start of one of these */
    struct block *block;
    char *pinned;      /* no shrinking below: the last mark in this block, or its base */
    size_t elsewhere;  /* bytes used in other blocks than this one */
    size_t high_water; /* as of the last time that bytes were given back */
    size_t capacity;
    struct block *own;        /* blocks of their own in use, newest first */
    struct block *own_oldest; /* the last of those, if there is one */
    struct block *own_spare;
    struct clean_up *clean_up; /* newest first */
    uint64_t round;            /* resets so far */
    size_t block_size;
    size_t max_block_size;
    bool fixed;
    bool marked;   /* since the last reset */
    bool cleaning; /* clean-up functions are running */
    haft_allocator allocator;
    struct block first;
};

static inline struct arena *arena_of(haft_arena *head)
{
    return (struct arena *)(void *)head;
}

/* Bytes from `at` to the next multiple of `alignment`. */
static inline size_t arena_padding(const char *at, size_t alignment)
{
    return -(uintptr_t)at & (alignment - 1);
}

/* Allocation goes on at `next`, in the block in use. */
static inline void arena_set_next(struct arena *arena, char *next)
{
    arena->head.next = next;
    arena->head.limit = asan_is_on() ? next : arena->block->end;
}

static inline size_t arena_used(const struct arena *arena)
{
    return arena->elsewhere + (size_t)(arena->head.next - arena->block->base);
}

/* To be called before bytes are given back. */
static inline void arena_note_high_water(struct arena *arena)
{
    const size_t used = arena_used(arena);

    if (arena->high_water < used) {
        arena->high_water = used;
    }
}

#endif /* HAFT_LIB_ARENA_STATE_H */

/* Where an arena's memory comes from, and where it is kept. */
#include "kit/local/arena/arena_blocks.h"
#include "lib/base/heap.h"
#include <assert.h>

/* In front of a block's bytes. */
#define HEADER                                                                                     \
    ((sizeof(struct block) + HAFT_ARENA_ALIGNMENT - 1) / HAFT_ARENA_ALIGNMENT *                    \
     HAFT_ARENA_ALIGNMENT)

static struct block *block_open(struct arena *arena, size_t bytes)
{
    struct block *block = heap_take(&arena->allocator, HEADER + bytes, HAFT_ARENA_ALIGNMENT);

    if (block == NULL) {
        return NULL;
    }
    block->next = NULL;
    block->base = (char *)block + HEADER;
    block->end = block->base + bytes;
    block->size = HEADER + bytes;
    asan_poison(block->base, bytes);
    arena->capacity += bytes;
    return block;
}

static void block_close(struct arena *arena, struct block *block)
{
    const size_t bytes = (size_t)(block->end - block->base);

    asan_unpoison(block->base, bytes);
    arena->capacity -= bytes;
    heap_give(&arena->allocator, block, block->size);
}

/* Where the bytes would lie in an empty block; NULL if it is too small. */
static char *place_in(const struct block *block, size_t extent, size_t alignment)
{
    const size_t padding = arena_padding(block->base, alignment);
    const size_t room = (size_t)(block->end - block->base);

    return padding <= room && extent <= room - padding ? block->base + padding : NULL;
}

/* Bytes of an empty block that surely takes them: base is aligned to HAFT_ARENA_ALIGNMENT. */
static size_t room_for(size_t extent, size_t alignment)
{
    return alignment <= HAFT_ARENA_ALIGNMENT ? extent : extent + alignment - HAFT_ARENA_ALIGNMENT;
}

/* --- the chain --- */

/* Bytes of the next block that the chain gets: twice the last one's, within bounds. */
static size_t next_size(const struct arena *arena)
{
    const size_t now = (size_t)(arena->block->end - arena->block->base);

    if (arena->block->size == 0) { /* the caller's buffer */
        return arena->block_size;
    }
    return now >= arena->max_block_size / 2 ? arena->max_block_size : 2 * now;
}

/* The block behind the one in use, new if there is none; NULL if the bytes do not fit there. */
static struct block *next_block(struct arena *arena, size_t extent, size_t alignment)
{
    struct block *next = arena->block->next;

    if (next != NULL) {
        return place_in(next, extent, alignment) != NULL ? next : NULL;
    }
    if (room_for(extent, alignment) > next_size(arena)) {
        return NULL;
    }
    next = block_open(arena, next_size(arena));
    arena->block->next = next;
    return next;
}

static char *move_on(struct arena *arena, struct block *next, size_t extent, size_t alignment)
{
    char *at = place_in(next, extent, alignment);

    arena->elsewhere = arena_used(arena);
    arena->block = next;
    arena->pinned = next->base;
    arena_set_next(arena, at + extent);
    return at;
}

/* --- blocks of their own --- */

/* The smallest kept one that will do, off its stack; or NULL. */
static struct block *take_spare(struct arena *arena, size_t extent, size_t alignment)
{
    struct block **best = NULL;

    for (struct block **at = &arena->own_spare; *at != NULL; at = &(*at)->next) {
        if (place_in(*at, extent, alignment) != NULL &&
            (best == NULL || (*at)->end - (*at)->base < (*best)->end - (*best)->base)) {
            best = at;
        }
    }
    if (best == NULL) {
        return NULL;
    }
    struct block *block = *best;

    *best = block->next;
    return block;
}

/* The largest kept one, which is too small, goes as a larger one comes: sizes may grow for ever. */
static void drop_spare(struct arena *arena)
{
    struct block **largest = &arena->own_spare;

    for (struct block **at = largest; *at != NULL; at = &(*at)->next) {
        if ((*at)->end - (*at)->base > (*largest)->end - (*largest)->base) {
            largest = at;
        }
    }
    struct block *block = *largest;

    if (block != NULL) {
        *largest = block->next;
        block_close(arena, block);
    }
}

static char *take_own(struct arena *arena, size_t extent, size_t alignment)
{
    struct block *block = take_spare(arena, extent, alignment);

    if (block == NULL) {
        block = block_open(arena, room_for(extent, alignment));
        if (block == NULL) {
            return NULL;
        }
        drop_spare(arena);
    }
    if (arena->own == NULL) {
        arena->own_oldest = block;
    }
    block->next = arena->own;
    arena->own = block;
    char *at = place_in(block, extent, alignment);

    arena->elsewhere += (size_t)(at - block->base) + extent;
    return at;
}

char *arena_take_elsewhere(struct arena *arena, size_t extent, size_t alignment)
{
    if (arena->fixed) {
        return NULL;
    }
    struct block *next = next_block(arena, extent, alignment);

    return next != NULL ? move_on(arena, next, extent, alignment)
                        : take_own(arena, extent, alignment);
}

void arena_keep_own(struct arena *arena, const struct block *until)
{
    while (arena->own != until) {
        struct block *block = arena->own;

        assert(block != NULL && "the mark is this arena's");
        arena->own = block->next;
        block->next = arena->own_spare;
        arena->own_spare = block;
        asan_poison(block->base, (size_t)(block->end - block->base));
    }
}

void arena_keep_all_own(struct arena *arena)
{
    if (arena->own == NULL) {
        return;
    }
    for (struct block *block = arena->own; asan_is_on() && block != NULL; block = block->next) {
        asan_poison(block->base, (size_t)(block->end - block->base));
    }
    arena->own_oldest->next = arena->own_spare;
    arena->own_spare = arena->own;
    arena->own = NULL;
}

/* --- all blocks --- */

void arena_poison_from(struct block *block, char *next)
{
    char *from = next != block->base ? next - ASAN_REDZONE : next;

    asan_poison(from, (size_t)(block->end - from));
    for (block = block->next; asan_is_on() && block != NULL; block = block->next) {
        asan_poison(block->base, (size_t)(block->end - block->base));
    }
}

static void free_list(struct arena *arena, struct block **list)
{
    while (*list != NULL) {
        struct block *block = *list;

        *list = block->next;
        block_close(arena, block);
    }
}

void arena_free_spare(struct arena *arena)
{
    free_list(arena, &arena->block->next);
    free_list(arena, &arena->own_spare);
}

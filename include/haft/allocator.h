/*
 * haft/allocator.h - where a container's memory comes from: malloc, an arena, or one's own.
 *
 *   haft_allocator from = haft_allocator_malloc();    or haft_arena_allocator(arena)
 *   node = from.alloc(from.context, sizeof *node, alignof(struct node));
 *
 * The caller keeps sizes and alignments: an arena stores none.
 */
#ifndef HAFT_ALLOCATOR_H
#define HAFT_ALLOCATOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_allocator - three functions and what they work on; small, so pass it by value.
 *
 * alloc     `size` bytes at a multiple of `alignment`, a power of two; contents undefined.
 *           Size 0 is a block like any other: an address of its own, not NULL.
 *           Returns NULL if there is no memory; nothing has changed then.
 * resize    gives `memory`, a block of `old_size` bytes that alloc or resize returned, the size
 *           `new_size`.  `old_size` is exactly what was asked for last, `alignment` the same as
 *           then.  Returns the block, which may have moved, with its first min(old_size,
 *           new_size) bytes kept; the old address may no longer be used.  New size 0 does not
 *           free.  `memory` NULL: as alloc, and `old_size` must be 0.
 *           Returns NULL if there is no memory; the old block is as it was then.
 * free      ends `memory`, a block of `size` bytes, as asked for last.  NULL is nothing.
 *           Cannot fail.
 * context   is passed to each.
 *
 * Threads   as the memory behind it: malloc any, an arena one at a time.
 */
typedef struct haft_allocator {
    void *(*alloc)(void *context, size_t size, size_t alignment);
    void *(*resize)(void *context, void *memory, size_t old_size, size_t new_size,
                    size_t alignment);
    void (*free)(void *context, void *memory, size_t size);
    void *context;
} haft_allocator;

/*
 * haft_allocator_malloc - the C library's malloc, realloc and free.
 *
 * Returns   that.  Its blocks may be freed with free(), and free() blocks of malloc's.  An
 *           alignment that is not a power of two gets NULL.
 * Threads   any, and so may its functions be called.
 * Ordering  none.
 * Progress  wait-free; its functions as malloc.
 * Cost      O(1).  resize copies where malloc's own alignment does not do.
 */
haft_allocator haft_allocator_malloc(void);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_ALLOCATOR_H */

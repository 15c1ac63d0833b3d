/*
 * lib/base/heap.h - memory of a table or domain that is not in pages: from the program's allocator,
 * or from malloc.
 */
#ifndef HAFT_LIB_HEAP_H
#define HAFT_LIB_HEAP_H

#include <assert.h>
#include <haft/memory.h>
#include <stddef.h>
#include <stdint.h>

/* The heap for an option `allocator`, of which NULL means malloc. */
haft_allocator heap_of(const haft_allocator *allocator);

/* `size` bytes at a multiple of `alignment`; heap_take_zero: all zero.  NULL: there are none. */
void *heap_take(const haft_allocator *heap, size_t size, size_t alignment);
void *heap_take_zero(const haft_allocator *heap, size_t size, size_t alignment);

/* `size` up to a multiple of `alignment`, a power of two. */
static inline uint64_t size_round_up(uint64_t size, uint64_t alignment)
{
    assert(alignment != 0 && (alignment & (alignment - 1)) == 0);
    return (size + alignment - 1) / alignment * alignment;
}

/* Bytes of a struct of `size` bytes with `name` behind it. */
size_t size_with_name(size_t size, const char *name);

/* Free a block of `size` bytes; NULL is nothing. */
void heap_give(const haft_allocator *heap, void *block, size_t size);

#endif /* HAFT_LIB_HEAP_H */

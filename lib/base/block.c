/*
 * haft_allocator over a block of the program's memory.
 *
 * A word has the end of what is taken and the number of parts taken; each call is one
 * compare-and-swap of it.
 *
 * Edges in this file.
 *   BLOCK   fixed_free (acq_rel) -> fixed_alloc (acq_rel)   a part's last use
 *   OWN     before the allocator is handed to other threads
 *   RETRY   a first look; the compare-and-swap decides
 */
#include "lib/base/block.h"
#include "lib/base/atomics.h"
#include <assert.h>
#include <string.h>

#define FIXED_END_BITS 40
#define FIXED_END_MASK ((UINT64_C(1) << FIXED_END_BITS) - 1)
#define FIXED_MOST_PARTS (UINT64_MAX >> FIXED_END_BITS)

#define FIXED_UNIT                                                                                 \
    16 /* all parts begin and end at multiples: none lies between two that are freed */

/* At the start of the block, before what is allocated. */
struct fixed_block {
    _Alignas(FIXED_UNIT) uint64_t size; /* from this struct's start */
    atomic_u64
        used; /* from this struct's start, FIXED_END_BITS; and above them the number of parts */
};

static uint64_t fixed_word(uint64_t end, uint64_t parts)
{
    assert(end <= FIXED_END_MASK && parts <= FIXED_MOST_PARTS);
    return end | parts << FIXED_END_BITS;
}

static uint64_t fixed_parts(uint64_t used)
{
    return used >> FIXED_END_BITS;
}

static uint64_t fixed_end(uint64_t used)
{
    return used & FIXED_END_MASK;
}

/* A unit at least: no two parts have one address.  0: more than there can be. */
static uint64_t fixed_bytes(size_t size)
{
    return size != 0 ? ((uint64_t)size + FIXED_UNIT - 1) / FIXED_UNIT * FIXED_UNIT : FIXED_UNIT;
}

static uint64_t fixed_place(const struct fixed_block *block, const void *memory)
{
    const uintptr_t from_start = (uintptr_t)memory - (uintptr_t)block;

    assert(from_start >= sizeof *block && from_start < block->size && "a part of this block");
    assert(from_start % FIXED_UNIT == 0);
    return from_start;
}

static void *fixed_alloc(void *context, size_t size, size_t alignment)
{
    struct fixed_block *block = context;
    const uint64_t bytes = fixed_bytes(size);

    if (block == NULL || alignment == 0 || (alignment & (alignment - 1)) != 0) {
        return NULL;
    }
    for (;;) {
        const uint64_t used = load_relaxed(RETRY, &block->used);
        const uintptr_t from = (uintptr_t)block + (uintptr_t)fixed_end(used);
        const uint64_t at = fixed_end(used) + (-from & (alignment - 1));

        if (at > block->size || bytes > block->size - at || bytes < size ||
            fixed_parts(used) == FIXED_MOST_PARTS) {
            return NULL;
        }
        /* Weakened, the last owner's bytes could be written after the next one's. */
        if (cas_acq_rel(BLOCK, &block->used, used, fixed_word(at + bytes, fixed_parts(used) + 1))) {
            return (char *)block + at;
        }
    }
}

static void fixed_free(void *context, void *memory, size_t size)
{
    struct fixed_block *block = context;

    if (memory == NULL) {
        return;
    }
    const uint64_t at = fixed_place(block, memory);
    const uint64_t bytes = fixed_bytes(size);

    for (;;) {
        const uint64_t used = load_relaxed(RETRY, &block->used);
        const uint64_t end = fixed_end(used);
        const uint64_t before = fixed_parts(used) == 1 ? sizeof *block
                                : at + bytes == end    ? at
                                                       : end;

        assert(fixed_parts(used) != 0 && at + bytes <= end && "each part is freed once");
        /* Weakened, the part's next owner could write to it before its last use. */
        if (cas_acq_rel(BLOCK, &block->used, used, fixed_word(before, fixed_parts(used) - 1))) {
            return;
        }
    }
}

static void *fixed_resize(void *context, void *memory, size_t old_size, size_t new_size,
                          size_t alignment)
{
    void *moved = fixed_alloc(context, new_size, alignment);

    assert(memory != NULL || old_size == 0);
    if (moved != NULL && memory != NULL) {
        memcpy(moved, memory, old_size < new_size ? old_size : new_size);
        fixed_free(context, memory, old_size);
    }
    return moved;
}

bool block_is_of(const haft_allocator *allocator)
{
    return allocator->alloc == fixed_alloc;
}

haft_allocator haft_allocator_block(void *memory, size_t size)
{
    const size_t lead = -(uintptr_t)memory & (_Alignof(struct fixed_block) - 1);
    struct fixed_block *block = NULL;

    if (size >= lead + sizeof *block) {
        const uint64_t rest = size - lead;

        block = (struct fixed_block *)(void *)((char *)memory + lead);
        block->size = (rest < FIXED_END_MASK ? rest : FIXED_END_MASK) / FIXED_UNIT * FIXED_UNIT;
        store_relaxed(OWN, &block->used, fixed_word(sizeof *block, 0));
    }
    return (haft_allocator){fixed_alloc, fixed_resize, fixed_free, block};
}

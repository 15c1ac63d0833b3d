/* haft_allocator over malloc. */
#include "lib/base/os.h"
#include <assert.h>
#include <haft/memory.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The alignment that malloc gives unasked. */
#define USUAL_ALIGNMENT _Alignof(max_align_t)

static size_t at_least(size_t size, size_t least)
{
    return size < least ? least : size;
}

static bool is_power_of_two(size_t alignment)
{
    return alignment != 0 && (alignment & (alignment - 1)) == 0;
}

/* Whether malloc() serves this alignment: never where free() cannot free aligned blocks. */
static bool malloc_does(size_t alignment)
{
    return alignment <= USUAL_ALIGNMENT && os_free_takes_aligned();
}

static void *malloc_alloc(void *context, size_t size, size_t alignment)
{
    (void)context;
    if (!is_power_of_two(alignment) || size > SIZE_MAX - alignment) {
        return NULL;
    }
    if (malloc_does(alignment)) {
        return malloc(at_least(size, 1));
    }
    const size_t whole = (at_least(size, 1) + alignment - 1) / alignment * alignment;

    return os_alloc_aligned(alignment, whole);
}

static void *malloc_resize(void *context, void *memory, size_t old_size, size_t new_size,
                           size_t alignment)
{
    assert(memory != NULL || old_size == 0);
    if (memory != NULL && is_power_of_two(alignment) && malloc_does(alignment)) {
        return realloc(memory, at_least(new_size, 1));
    }
    void *moved = malloc_alloc(context, new_size, alignment);

    if (moved != NULL && memory != NULL) {
        memcpy(moved, memory, old_size < new_size ? old_size : new_size);
        os_free_aligned(memory);
    }
    return moved;
}

static void malloc_free(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    os_free_aligned(memory);
}

haft_allocator haft_allocator_malloc(void)
{
    return (haft_allocator){malloc_alloc, malloc_resize, malloc_free, NULL};
}

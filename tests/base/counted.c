/* Malloc that counts, and refuses. */
#include "tests/base/counted.h"
#include <stdbool.h>
#include <string.h>

static bool is_refused(struct counted *counted)
{
    counted->calls++;
    if (counted->left == 0) {
        return true;
    }
    counted->left -= counted->left > 0;
    return false;
}

static void *take(void *context, size_t size, size_t alignment)
{
    struct counted *counted = context;
    const haft_allocator from = haft_allocator_malloc();

    if (is_refused(counted)) {
        return NULL;
    }
    counted->held += size;
    return from.alloc(from.context, size, alignment);
}

static void *resize(void *context, void *block, size_t old_size, size_t new_size, size_t alignment)
{
    struct counted *counted = context;
    const haft_allocator from = haft_allocator_malloc();

    if (is_refused(counted)) {
        return NULL;
    }
    counted->held += new_size - old_size;
    return from.resize(from.context, block, old_size, new_size, alignment);
}

static void give(void *context, void *block, size_t size)
{
    struct counted *counted = context;
    const haft_allocator from = haft_allocator_malloc();

    if (block != NULL) {
        counted->held -= size;
        memset(block, 0xdd, size); /* the heap's own from now on */
    }
    from.free(from.context, block, size);
}

haft_allocator counted_allocator(struct counted *counted)
{
    return (haft_allocator){take, resize, give, counted};
}

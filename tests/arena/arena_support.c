#include "tests/arena/arena_support.h"

/* Sizes beyond any memory are NULL, as they are without the sanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

haft_arena *open_arena(const haft_arena_options *options)
{
    haft_arena *arena = NULL;

    assert_status(haft_arena_open(options, &arena), HAFT_OK);
    return arena;
}

static void *counted_alloc(void *context, size_t size, size_t alignment)
{
    struct counted *counted = context;
    const haft_allocator from = haft_allocator_malloc();

    counted->calls++;
    if (counted->left == 0) {
        return NULL;
    }
    counted->left--;
    counted->held += size;
    return from.alloc(from.context, size, alignment);
}

static void counted_free(void *context, void *memory, size_t size)
{
    struct counted *counted = context;
    const haft_allocator from = haft_allocator_malloc();

    counted->held -= size;
    from.free(from.context, memory, size);
}

haft_allocator counted_allocator(struct counted *counted)
{
    return (haft_allocator){.alloc = counted_alloc, .free = counted_free, .context = counted};
}

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

void arena_end(haft_arena **arena)
{
    haft_arena_close(*arena);
}

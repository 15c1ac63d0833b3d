/*
 * tests/arena/arena_support.h - what the tests of arenas share.
 */
#ifndef HAFT_TESTS_ARENA_SUPPORT_H
#define HAFT_TESTS_ARENA_SUPPORT_H

#include "tests/support.h"
#include <haft/arena.h>

haft_arena *open_arena(const haft_arena_options *options);

/* Malloc, for a limited number of calls. */
struct counted {
    int left;    /* allocations until one fails, and all after it */
    int calls;   /* allocations asked for */
    size_t held; /* bytes not freed yet, as their sizes were given */
};

haft_allocator counted_allocator(struct counted *counted);

#endif /* HAFT_TESTS_ARENA_SUPPORT_H */

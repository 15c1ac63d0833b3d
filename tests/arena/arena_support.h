/*
 * tests/arena/arena_support.h - what the tests of arenas share.
 */
#ifndef HAFT_TESTS_ARENA_SUPPORT_H
#define HAFT_TESTS_ARENA_SUPPORT_H

#include "tests/base/counted.h"
#include "tests/support.h"
#include <haft/kit/arena.h>

haft_arena *open_arena(const haft_arena_options *options);
void arena_end(haft_arena **arena);

#endif /* HAFT_TESTS_ARENA_SUPPORT_H */

/*
 * tests/base/counted.h - malloc as a haft_allocator that counts, and refuses.
 */
#ifndef HAFT_TESTS_COUNTED_H
#define HAFT_TESTS_COUNTED_H

#include <haft/kit/arena.h>

struct counted {
    int left;    /* allocations until one fails, and all after it; negative: no limit */
    int calls;   /* allocations asked for */
    size_t held; /* bytes not freed yet, as their sizes were given */
};

haft_allocator counted_allocator(struct counted *counted);

#endif /* HAFT_TESTS_COUNTED_H */

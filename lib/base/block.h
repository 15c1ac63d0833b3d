/* lib/base/block.h - haft_allocator_block(), as the library knows it. */
#ifndef HAFT_LIB_BLOCK_H
#define HAFT_LIB_BLOCK_H

#include <haft/memory.h>
#include <stdbool.h>

/* Whether all that is taken of the allocator lies in a block, arrays of any size too. */
bool block_is_of(const haft_allocator *allocator);

#endif /* HAFT_LIB_BLOCK_H */

/*
 * kit/local/snapshots/image.h - the image of a table: all that decides what its next call answers.
 *
 * Numbers, and parts of its memory.  The parts of a table's own image are its memory itself; those
 * of another lie elsewhere.  A table becomes any image of its shape.
 */
#ifndef HAFT_LIB_IMAGE_H
#define HAFT_LIB_IMAGE_H

#include "lib/base/compiler.h"
#include <stdbool.h>
#include <stdint.h>

#define IMAGE_NUMBERS 18
#define IMAGE_PARTS 4
#define SHAPE_NUMBERS 10

struct image_part {
    char *at;
    uint64_t bytes;
    uint64_t most; /* bytes that the part can ever have */
};

struct image {
    uint64_t numbers[IMAGE_NUMBERS];
    struct image_part parts[IMAGE_PARTS];
};

/* The options of the table that an image must agree with. */
struct shape {
    uint64_t numbers[SHAPE_NUMBERS];
};

/* Copied and compared in blocks, from the start of a part on. */
#define IMAGE_BLOCK 64

/* Whether two whole blocks differ. */
static inline bool image_differs(const char *a, const char *b)
{
    return pairs_differ(a, b);
}

/* Make `bytes` bytes at `to` what they are at `from`: writes to blocks that differ, alone. */
void image_put(char *to, const char *from, uint64_t bytes);

/* Make the bytes zero; the same. */
void image_clear(char *at, uint64_t bytes);

#endif /* HAFT_LIB_IMAGE_H */

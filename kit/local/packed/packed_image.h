/*
 * kit/local/packed/packed_image.h - the image of a packed table: see kit/local/snapshots/image.h.
 */
#ifndef HAFT_LIB_PACKED_IMAGE_H
#define HAFT_LIB_PACKED_IMAGE_H

#include "kit/local/packed/state.h"
#include "kit/local/snapshots/image.h"

/* Numbers of the image, with what a file that has a wrong one is said to have. */
#define PACKED_NUMBERS(X)                                                                          \
    X(FIRST, "first generation")                                                                   \
    X(USED, "number of slots")                                                                     \
    X(COUNT, "number of objects")                                                                  \
    X(DEAD, "number of dead objects")                                                              \
    X(EXHAUSTED, "number of exhausted slots")                                                      \
    X(HEAD, "first free slot")

#define PACKED_NUMBER(name, text) PACKED_##name,
enum packed_number { PACKED_NUMBERS(PACKED_NUMBER) PACKED_NUMBERS_END };

/* The slots from slot 0 on, and the arrays up to the last object. */
enum packed_part {
    PACKED_OBJECTS = OBJECTS,
    PACKED_IDS = IDS,
    PACKED_PART_DEAD = DEAD,
    PACKED_SLOTS
};

/* What the table was opened with; names for each number of it. */
struct shape packed_shape(const haft_packed *packed);
extern const char *const packed_shape_names[SHAPE_NUMBERS];

/* HAFT_OK, or why this is no moment for an image, to be taken or become. */
haft_status packed_check_moment(const haft_packed *packed);

/* The table's own image. */
struct image packed_image(const haft_packed *packed);

/* Memory to become an image with these numbers: HAFT_OK or HAFT_NO_MEMORY. */
haft_status packed_prepare(haft_packed *packed, const uint64_t *numbers);

/* Become the image, which the table is prepared for. */
void packed_become(haft_packed *packed, const struct image *image);

#endif /* HAFT_LIB_PACKED_IMAGE_H */

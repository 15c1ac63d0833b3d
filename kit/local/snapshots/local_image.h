/*
 * kit/local/snapshots/local_image.h - the image of a table of one thread: see
 * kit/local/snapshots/image.h.
 */
#ifndef HAFT_LIB_LOCAL_IMAGE_H
#define HAFT_LIB_LOCAL_IMAGE_H

#include "kit/local/snapshots/image.h"
#include "lib/local/state.h"

/* Numbers of the image, with what a file that has a wrong one is said to have. */
#define LOCAL_NUMBERS(X)                                                                           \
    X(CAPACITY, "capacity")                                                                        \
    X(MIN_FREE, "min_free")                                                                        \
    X(LIMIT, "number of slots that there can be")                                                  \
    X(FIRST, "first generation")                                                                   \
    X(USED, "number of slots")                                                                     \
    X(COUNT, "number of objects")                                                                  \
    X(EXHAUSTED, "number of exhausted slots")                                                      \
    X(HEAD, "first free slot")                                                                     \
    X(TAIL, "last free slot")                                                                      \
    X(QUEUED, "number of free slots")                                                              \
    X(FRESH_AT, "start of the fresh run in use")                                                   \
    X(FRESH_END, "end of the fresh run in use")                                                    \
    X(FRESH_SLOTS, "number of fresh slots")                                                        \
    X(FIRST_RUN, "first fresh run")                                                                \
    X(RUNS, "number of page runs")                                                                 \
    X(WRAPPED, "mark of generations that began again")

#define LOCAL_NUMBER(name, text) LOCAL_##name,
enum local_number { LOCAL_NUMBERS(LOCAL_NUMBER) LOCAL_NUMBERS_END };

/* The slots from slot 0 on; the records of page runs. */
enum local_part { LOCAL_SLOTS, LOCAL_RUN_RECORDS };

/* What the table was opened with; names for each number of it. */
struct shape local_shape(const haft_local *local);
extern const char *const local_shape_names[SHAPE_NUMBERS];

/* The table's own image.  Between the two functions the bytes of all slots may be touched. */
struct image local_begin_image(const haft_local *local);
void local_end_image(const haft_local *local);

/* Memory to become an image with these numbers: HAFT_OK or HAFT_NO_MEMORY. */
haft_status local_prepare(haft_local *local, const uint64_t *numbers);

/*
 * The values of the table's sides end by `end`, as its ids will be issued again.  HAFT_OK, or
 * HAFT_IN_USE: on_end has reserved a slot.
 */
haft_status local_end_values(haft_local *local, void (*end)(const atomic_u64 *list));

/* Become the image, which the table is prepared for. */
void local_become(haft_local *local, const struct image *image);

#endif /* HAFT_LIB_LOCAL_IMAGE_H */

/*
 * kit/local/sides/side_copy.h - the values of a local table's sides, as a snapshot has them.
 *
 * Only of sides without on_end: their values are bytes, which may be copied and overwritten.
 */
#ifndef HAFT_LIB_SIDE_COPY_H
#define HAFT_LIB_SIDE_COPY_H

#include "kit/local/sides/side.h"
#include "lib/base/heap.h"

/* All entries of one side that have had values; a list of them is of one table. */
struct side_copy {
    struct side_copy *next;
    uint64_t number; /* of its side */
    uint64_t bytes;  /* of entries, which follow */
};

/* Copies of the sides in the list: HAFT_OK; or HAFT_NO_MEMORY, and `*copies` is untouched. */
haft_status sides_copy(const atomic_u64 *list, const haft_allocator *heap,
                       struct side_copy **copies);

/* NULL: there are none. */
void side_copies_free(const haft_allocator *heap, struct side_copy *copies);

uint64_t side_copies_bytes(const struct side_copy *copies);

/* Each side without on_end becomes its copy; one that has none, which was not open then, becomes
 * empty. */
void sides_become(const atomic_u64 *list, const struct side_copy *copies);

#endif /* HAFT_LIB_SIDE_COPY_H */

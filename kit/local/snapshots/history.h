/*
 * kit/local/snapshots/history.h - snapshots of a table: see haft/kit/snapshot.h.
 *
 * One of them, the current, is there as a whole: the shadow, a copy of the table's memory.  Between
 * two neighbours stand the blocks that differ, with the bytes of the one that the shadow is not.
 * Going from one to the other exchanges these bytes with the shadow's, so the way back is there
 * too.
 *
 *   oldest --changes-- current = shadow --changes-- newest
 *
 * Bytes of the shadow that no snapshot had before need no way back: nothing asks for them.
 */
#ifndef HAFT_LIB_HISTORY_H
#define HAFT_LIB_HISTORY_H

#include "kit/local/snapshots/image.h"
#include "lib/base/heap.h"
#include "lib/base/reservation.h"
#include <haft/kit/snapshot.h>

struct change;
struct side_copy;

/* Snapshot number n is in place n % keep. */
struct snapshot {
    uint64_t serial; /* no other one of the history ever has it; numbers come again */
    uint64_t numbers[IMAGE_NUMBERS];
    uint64_t bytes[IMAGE_PARTS];
    struct change *changes;     /* against the snapshot before; NULL: none */
    uint64_t ends[IMAGE_PARTS]; /* of each part's changes */
    struct side_copy *sides;    /* all their values, whole; NULL: none */
};

struct shadow_part {
    struct reservation memory; /* if `is_open` */
    bool is_open;
    uint64_t bytes; /* that snapshots have had */
};

struct haft_history {
    haft_allocator heap;
    struct snapshot *snapshots;
    uint64_t keep;
    uint64_t oldest;
    uint64_t next; /* one more than the newest; equal: there is none */
    uint64_t current;
    uint64_t taken;     /* snapshots ever */
    struct shape shape; /* of the tables whose snapshots it has */
    struct shadow_part shadow[IMAGE_PARTS];
};

/* Whether snapshots of tables of that shape are or may be in it. */
bool history_fits(const struct haft_history *history, const struct shape *shape);

/*
 * Keep a copy of `image`, which is of that shape, behind the current snapshot; those behind that
 * are dropped.  HAFT_OK and its number, and `sides`, of the history's heap, are the history's; or
 * HAFT_NO_MEMORY with nothing changed.
 */
haft_status history_take(struct haft_history *history, const struct shape *shape,
                         const struct image *image, struct side_copy *sides, uint64_t *number);

/* The snapshot of that number; NULL: there is none. */
const struct snapshot *history_find(const struct haft_history *history, uint64_t number);

/* Make a snapshot that is there the current one: its image, which is valid until the next call. */
struct image history_go(struct haft_history *history, uint64_t number);

#endif /* HAFT_LIB_HISTORY_H */

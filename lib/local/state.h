/*
 * lib/local/state.h - the structs of the table of one thread.
 *
 * Where a slot is that may be taken: in the list of free slots, which runs through their words
 * (the index field of a free slot's word is the next free slot, END at the end); in a fresh run;
 * or at `used` and above, never used.
 *
 * A slot in between, whose destructor runs or whose table is being loaded, is in none of them.  One
 * whose destructor is due is in a list of those, also through the words.
 */
#ifndef HAFT_LIB_LOCAL_STATE_H
#define HAFT_LIB_LOCAL_STATE_H

#include "lib/base/asan.h"
#include "lib/slots/slots.h"
#include <assert.h>
#include <haft/detail/local_front.h>

/* While it is loaded or closed, a table has no list of free slots: they only say END. */
enum local_mode { LOCAL_OPEN, LOCAL_LOADING, LOCAL_CLOSING };

struct haft_local {
    struct haft_local_front front; /* first: the list's head if it is in place, and the live */
    struct slots slots;

    bool is_fifo;
    bool wraps;
    enum local_mode mode;
    bool is_in_place;     /* the list begins in front.head: open, LIFO, nothing to be watched */
    uint32_t listed_head; /* the same for any other list; MARK_END: there is none */
    uint64_t queue_tail;
    uint64_t queue_count; /* slots in a list that is not in place */
    uint64_t min_free;    /* that many slots stay in the queue */

    uint64_t used;        /* one more than the highest index used so far */
    uint64_t fresh_at;    /* the fresh run in use: its next slot, */
    uint64_t fresh_end;   /* and the end */
    uint64_t fresh_slots; /* in all fresh runs, and left of the one in use */

    uint64_t capacity;
    bool is_crowded;    /* it is watched; or there may be more free slots than fit: so after it
                           was shared */
    bool in_callback;   /* on_destroy runs */
    bool is_given;      /* in the program's memory */
    uint64_t held;      /* slots reserved, or whose destructor runs or is due: */
    uint64_t retired;   /* these alone */
    uint64_t ending;    /* the first slot whose destructor is due; MARK_END: there is none */
    uint64_t exhausted; /* slots */
    haft_local_destroy *on_destroy;
    void *destroy_arg;
    const char *name;    /* at the end of the block that begins with this struct */
    atomic_u64 attached; /* what lies beside the slots; not 0: the table stays open */
};

/* Whether `word` is that of a free slot `index`, in the list or fresh; or its destructor is due. */
static inline bool local_is_free(const haft_local *local, uint64_t index, uint64_t word)
{
    const uint64_t field = word_index(&local->slots.format, word);

    return field == MARK_END || (field >= HAFT_FIRST_INDEX && field != index);
}

/* The front's generation_mask, as it must be. */
static inline uint64_t local_mask_in_place(const haft_local *local)
{
    return local->is_in_place && local->on_destroy == NULL ? local->slots.format.generation_mask
                                                           : 0;
}

/* Whether each slot that comes or goes is to be looked at. */
static inline bool local_is_watched(const haft_local *local)
{
    return asan_is_on() || local->slots.sites.records != NULL;
}

/* See is_crowded; of the limit, the capacity and min_free. */
static inline bool local_crowds(const haft_local *local)
{
    return local_is_watched(local) ||
           local->slots.limit - HAFT_FIRST_INDEX - local->min_free > local->capacity;
}

/* Where the list begins. */
static inline uint32_t *local_head(haft_local *local)
{
    return local->is_in_place ? &local->front.head : &local->listed_head;
}

/* Objects that still fit. */
static inline uint64_t local_available(const haft_local *local)
{
    assert(local->front.count + local->held + local->exhausted <= local->capacity);
    return local->capacity - local->front.count - local->held - local->exhausted;
}

/* Slots in the list: all used ones that are nowhere else. */
static inline uint64_t local_listed(const haft_local *local)
{
    assert(local->front.count + local->held + local->exhausted + local->fresh_slots <=
           local->used - HAFT_FIRST_INDEX);
    return local->used - HAFT_FIRST_INDEX - local->front.count - local->held - local->exhausted -
           local->fresh_slots;
}

#endif /* HAFT_LIB_LOCAL_STATE_H */

/*
 * kit/local/packed/state.h - the structs of the packed table.
 *
 * A slot is in one of three places: fresh (never used), in the free list, or behind an object in
 * a position; so positions in use never outnumber slots in use.  Exhausted slots are in none.
 *
 * While callbacks run, an object whose life has ended keeps its position (its id is nil there)
 * and its slot (marked FREE, or EXHAUSTED after the last life).  Both are given back together,
 * when no callback can see it.
 */
#ifndef HAFT_LIB_PACKED_STATE_H
#define HAFT_LIB_PACKED_STATE_H

#include "lib/base/asan.h"
#include "lib/slots/slots.h"
#include <haft/kit/packed.h>
#include <string.h>

/* Arrays with one element for each position; ORDER is memory for sorting alone. */
enum packed_array { OBJECTS, IDS, DEAD, ORDER, PACKED_ARRAYS };

struct haft_packed {
    struct slots slots;
    struct reservation memory[PACKED_ARRAYS];
    haft_dense_view view;
    haft_packed_slot *slot; /* view.slot, to be written */
    haft_id *ids;
    uint32_t *dead;  /* slots of dead objects, in order of the kills */
    uint32_t *order; /* two numbers for each position */
    uint64_t capacity;
    uint64_t step;      /* slots and positions made ready at a time */
    bool is_touched;    /* ready also means touched */
    uint64_t ready;     /* slots and positions that have memory */
    uint64_t used;      /* slots ever used */
    uint64_t free_head; /* first free slot, or MARK_END */
    uint64_t exhausted;
    uint64_t count;
    uint64_t dead_count;
    bool keep_order;
    bool in_callback;
    haft_packed_destroy *on_destroy;
    void *destroy_arg;
    const char *name; /* behind the struct */
};

/* Bytes of an array's element. */
static inline uint64_t packed_bytes(const struct haft_packed *packed, enum packed_array array)
{
    switch (array) {
    case OBJECTS:
        return packed->view.object_size;
    case DEAD:
        return sizeof(uint32_t);
    default: /* an id; two numbers */
        return sizeof(uint64_t);
    }
}

/* Make the first `count` elements of an array writable.  HAFT_OK or HAFT_NO_MEMORY. */
static inline haft_status packed_commit(struct haft_packed *packed, enum packed_array array,
                                        uint64_t count)
{
    return reservation_commit(&packed->memory[array], count * packed_bytes(packed, array));
}

static inline char *packed_object(const struct haft_packed *packed, uint64_t position)
{
    return packed->view.objects + position * packed->view.object_size;
}

/*
 * An object may be in a position; `count` positions have none: AddressSanitizer reports accesses.
 */
static inline void packed_unpoison(const struct haft_packed *packed, uint64_t position)
{
    asan_unpoison(packed_object(packed, position), (size_t)packed->view.object_size);
}

static inline void packed_poison(const struct haft_packed *packed, uint64_t position,
                                 uint64_t count)
{
    asan_poison(packed_object(packed, position), (size_t)(count * packed->view.object_size));
}

/* The slot that an id of this table leads to. */
static inline haft_packed_slot *packed_slot(const struct haft_packed *packed, haft_id id)
{
    return &packed->slot[word_index(&packed->slots.format, id.bits)];
}

/* The object in `from` stands in `to` as well; its id leads there from now on. */
static inline void packed_move(struct haft_packed *packed, uint64_t to, uint64_t from)
{
    memcpy(packed_object(packed, to), packed_object(packed, from),
           (size_t)packed->view.object_size);
    packed->ids[to] = packed->ids[from];
    packed_slot(packed, packed->ids[to])->position = (uint32_t)to;
}

#endif /* HAFT_LIB_PACKED_STATE_H */

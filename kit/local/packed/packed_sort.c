/*
 * haft_packed: the order of objects.  A merge sort, or a list of ids, puts positions in order; then
 * each object moves to its place once.
 *
 * order[i] is the position from which the object for position i comes.  Merging needs a second
 * array of positions, moving in cycles the memory of one object: both are there before the first
 * object moves, so nothing can fail half-way.
 */
#include "kit/local/packed/state.h"
#include "lib/base/os.h"
#include "lib/slots/diagnose.h"

struct sorting {
    const struct haft_packed *packed;
    int (*compare)(const void *a, const void *b, void *arg);
    void *arg;
    uint32_t *order;
    uint32_t *left; /* as long as order */
};

/* Whether the objects from positions `a` and `b` may stand in this order. */
static bool in_order(const struct sorting *sorting, uint32_t a, uint32_t b)
{
    return sorting->compare(packed_object(sorting->packed, a), packed_object(sorting->packed, b),
                            sorting->arg) <= 0;
}

/* Merge order[begin..middle) and order[middle..end), each in order. */
static void merge(const struct sorting *sorting, uint64_t begin, uint64_t middle, uint64_t end)
{
    uint32_t *order = sorting->order;
    uint32_t *left = sorting->left;
    const uint64_t left_count = middle - begin;
    uint64_t taken = 0;

    if (in_order(sorting, order[middle - 1], order[middle])) {
        return;
    }
    memcpy(left, &order[begin], (size_t)left_count * sizeof left[0]);
    for (uint64_t at = begin; taken < left_count; at++) {
        if (middle == end || in_order(sorting, left[taken], order[middle])) {
            order[at] = left[taken++];
        } else {
            order[at] = order[middle++];
        }
    }
}

static void sort(const struct sorting *sorting, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        sorting->order[i] = (uint32_t)i;
    }
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t begin = 0; begin + width < count; begin += 2 * width) {
            const uint64_t end = begin + 2 * width < count ? begin + 2 * width : count;

            merge(sorting, begin, begin + width, end);
        }
    }
}

/* Move the objects of the cycle that begins at `start`; `spare` is a position beyond them all. */
static void move_cycle(struct haft_packed *packed, uint64_t start, uint64_t spare)
{
    const size_t size = (size_t)packed->view.object_size;
    uint32_t *order = packed->order;
    const haft_id first = packed->ids[start];
    uint64_t to = start;

    memcpy(packed_object(packed, spare), packed_object(packed, start), size);
    while (order[to] != start) {
        const uint64_t from = order[to];

        packed_move(packed, to, from);
        order[to] = (uint32_t)to;
        to = from;
    }
    memcpy(packed_object(packed, to), packed_object(packed, spare), size);
    packed->ids[to] = first;
    packed_slot(packed, first)->position = (uint32_t)to;
    order[to] = (uint32_t)to;
}

/* Move each of the first `count` objects to where `order` has it. */
static haft_status move_all(struct haft_packed *packed, uint64_t count)
{
    /* `compare` may have inserted: the spare is behind that, too. */
    if (packed_commit(packed, OBJECTS, packed->count + 1) != HAFT_OK) {
        return HAFT_NO_MEMORY;
    }
    packed_unpoison(packed, packed->count);
    for (uint64_t position = 0; position < count; position++) {
        if (packed->order[position] != position) {
            move_cycle(packed, position, packed->count);
        }
    }
    if (packed->count < packed->ready) {
        packed_poison(packed, packed->count, 1);
    }
    return HAFT_OK;
}

haft_status haft_packed_sort_n(haft_packed *packed, uint64_t n,
                               int (*compare)(const void *a, const void *b, void *arg), void *arg)
{
    const uint64_t count = n < packed->count ? n : packed->count;

    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    if (packed_commit(packed, ORDER, count) != HAFT_OK) {
        return HAFT_NO_MEMORY;
    }
    const struct sorting sorting = {
        .packed = packed,
        .compare = compare,
        .arg = arg,
        .order = packed->order,
        .left = packed->order + count,
    };
    const int cancel = os_cancel_off();

    packed->in_callback = true;
    sort(&sorting, count);
    packed->in_callback = false;
    os_cancel_restore(cancel);
    return move_all(packed, count);
}

haft_status haft_packed_sort(haft_packed *packed,
                             int (*compare)(const void *a, const void *b, void *arg), void *arg)
{
    return haft_packed_sort_n(packed, packed->count, compare, arg);
}

/* --- as ids are listed --- */

struct placing {
    uint32_t *order;
    uint64_t count;
    uint32_t *is_placed; /* by position */
};

/* The object in `position` comes next, unless it has been placed. */
static void place(struct placing *placing, uint64_t position)
{
    if (placing->is_placed[position] == 0) {
        placing->is_placed[position] = 1;
        placing->order[placing->count++] = (uint32_t)position;
    }
}

haft_status haft_packed_sort_as(haft_packed *packed, const haft_id *ids, uint64_t count)
{
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    if (packed_commit(packed, ORDER, packed->count) != HAFT_OK) {
        return HAFT_NO_MEMORY;
    }
    struct placing placing = {packed->order, 0, packed->order + packed->count};

    memset(placing.is_placed, 0, (size_t)packed->count * sizeof placing.is_placed[0]);
    for (uint64_t i = 0; i < count; i++) {
        if (haft_packed_is_live(packed->view, ids[i])) {
            place(&placing, packed_slot(packed, ids[i])->position);
        }
    }
    for (uint64_t position = 0; position < packed->count; position++) {
        place(&placing, position);
    }
    return move_all(packed, packed->count);
}

/* --- two objects --- */

static void swap_bytes(char *a, char *b, uint64_t size)
{
    char kept[64];

    for (uint64_t at = 0; at < size; at += sizeof kept) {
        const size_t part = (size_t)(size - at < sizeof kept ? size - at : sizeof kept);

        memcpy(kept, a + at, part);
        memcpy(a + at, b + at, part);
        memcpy(b + at, kept, part);
    }
}

/* The object of `id` has come to stand in `position`. */
static void settle_in(struct haft_packed *packed, haft_id id, uint32_t position)
{
    packed->ids[position] = id;
    packed_slot(packed, id)->position = position;
}

haft_status haft_packed_swap(haft_packed *packed, haft_id a, haft_id b)
{
    if (!haft_packed_is_live(packed->view, a)) {
        return slots_diagnose(&packed->slots, a);
    }
    if (!haft_packed_is_live(packed->view, b)) {
        return slots_diagnose(&packed->slots, b);
    }
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    const uint32_t position = packed_slot(packed, a)->position;
    const uint32_t other = packed_slot(packed, b)->position;

    if (position != other) {
        swap_bytes(packed_object(packed, position), packed_object(packed, other),
                   packed->view.object_size);
        settle_in(packed, a, other);
        settle_in(packed, b, position);
    }
    return HAFT_OK;
}

/*
 * haft/detail/local_front.h - insertion and free in place: the common way of haft_local, without a
 * call.
 *
 * haft_local_insert() and haft_local_free() for code that knows the size of its objects and the
 * distance of its slots as constants: typed tables (haft/typed.h) use it.  What is not common
 * (no free slot in the list, a destructor, FIFO, a slot's last life) is a call of those two.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   one at a time for each table.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */
#ifndef HAFT_DETAIL_LOCAL_FRONT_H
#define HAFT_DETAIL_LOCAL_FRONT_H

#include <haft/detail/compiler.h>
#include <haft/local.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a haft_local begins with.  The library alone writes it otherwise than by the functions
 * below, which are all that programs should use of it.
 */
struct haft_local_front {
    uint32_t head;  /* the free slot to be used next; 0: there is none in place */
    uint32_t count; /* live objects */
    uint64_t index_mask;
    uint64_t generation_one;  /* generation 1, where it stands in an id */
    uint64_t generation_mask; /* 0: nothing is freed in place */
};

/* Not for programs: take the slot to be used next, under the id that the caller stores; or NULL. */
HAFT_ONLY_INLINE haft_atomic_u64 *haft_local_front_take(haft_local *local, haft_view view,
                                                        haft_id *id)
{
    struct haft_local_front *front = HAFT_CAST(struct haft_local_front *, HAFT_CAST(void *, local));
    const uint64_t index = front->head;

    if (HAFT_IF_UNLIKELY(index == 0)) {
        return NULL;
    }
    haft_atomic_u64 *at =
        HAFT_CAST(haft_atomic_u64 *, HAFT_CAST(void *, view.base + index * view.stride));
    const uint64_t word = haft_load_relaxed(HAFT_EDGE_OWN, at);

    front->head = HAFT_CAST(uint32_t, word & front->index_mask);
    front->count++;
    id->bits = (word & ~front->index_mask) | index;
    return at;
}

/* Not for programs: free `id` in place; false, with nothing changed: the call must do it. */
HAFT_ONLY_INLINE bool haft_local_front_put(haft_local *local, haft_view view, haft_id id)
{
    struct haft_local_front *front = HAFT_CAST(struct haft_local_front *, HAFT_CAST(void *, local));
    haft_atomic_u64 *at = HAFT_CAST(
        haft_atomic_u64 *, HAFT_CAST(void *, view.base + (id.bits & view.mask) * view.stride));
    const uint64_t next = id.bits + front->generation_one;

    /* After the last life the generation is 0, wherever the sum has gone. */
    if (HAFT_IF_UNLIKELY(haft_load_relaxed(HAFT_EDGE_OWN, at) != id.bits) ||
        HAFT_IF_UNLIKELY((next & front->generation_mask) == 0)) {
        return false;
    }
    haft_store_relaxed(HAFT_EDGE_OWN, at, (next & ~front->index_mask) | front->head);
    front->head = HAFT_CAST(uint32_t, id.bits & front->index_mask);
    front->count--;
    return true;
}

/*
 * haft_local_insert_front - as haft_local_insert(); `view` is the table's own, `size` the size of
 * its objects.
 *
 * Returns   as haft_local_insert().
 * Cost      O(1), and the copy.
 */
HAFT_ONLY_INLINE haft_status haft_local_insert_front(haft_local *local, haft_view view,
                                                     const void *object, size_t size, haft_id *id)
{
    haft_atomic_u64 *at = object != NULL ? haft_local_front_take(local, view, id) : NULL;

    if (HAFT_IF_UNLIKELY(at == NULL)) {
        return haft_local_insert(local, object, id);
    }
    void *bytes = at + 1;

    memcpy(bytes, object, size);
    haft_store_relaxed(HAFT_EDGE_OWN, at, id->bits);
    return HAFT_OK;
}

/*
 * haft_local_free_front - as haft_local_free(); `view` is the table's own.
 *
 * Returns   as haft_local_free().
 * Progress  wait-free except for on_destroy.
 */
HAFT_ONLY_INLINE haft_status haft_local_free_front(haft_local *local, haft_view view, haft_id id)
{
    return haft_local_front_put(local, view, id) ? HAFT_OK : haft_local_free(local, id);
}

#ifdef __cplusplus
}
#endif

#endif /* HAFT_DETAIL_LOCAL_FRONT_H */

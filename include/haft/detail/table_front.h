/*
 * haft/detail/table_front.h - insertion and free in place: the common way of haft_table, without a
 * call.
 *
 * haft_insert() and haft_free() for code that knows the size of its objects and the distance of its
 * slots as constants: typed tables (haft/typed.h) use it.  What is not common (no slot or no room
 * in the worker's batches, fresh memory, a slot's last life, allocation sites) is a call of those
 * two.  So is everything if the library was built with its assertions or with
 * AddressSanitizer: then it closes the way in place, and its checks hold for these calls too.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   the worker's.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 *
 * Edges in this file.
 *   PUBLISH  haft_worker_front_put (release) -> haft_worker_front_free (acquire)   as
 *            life_publish() and life_end() (concurrent/worker/life.h)
 *   TALLY    haft_worker_front_put (release) -> count_begun (acquire)   as tally()
 *   COUNT    a counter that one worker writes and any thread may read
 *   OWN      the slot's word is the worker's until it is published; its counters are
 *   RETRY    a first look; the compare-and-swap decides
 */
#ifndef HAFT_DETAIL_TABLE_FRONT_H
#define HAFT_DETAIL_TABLE_FRONT_H

#include <haft/detail/compiler.h>
#include <haft/table.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with the struct below and with what its members mean. */
#define HAFT_TABLE_FRONT 1

#define HAFT_FRONT_FREE 3 /* in the index field of a slot that was freed */

/*
 * What a haft_worker begins with: a cache line that stays as it is while the worker is open, and
 * one for what changes.  The library alone writes it otherwise than by the functions below, which
 * are all that programs should use of it.
 *
 * Of its two batches a worker knows the positions by its own counts: an insertion uses slot number
 * `inserted`, a free adds slot number `freed`.  So one store does for the count and for the batch:
 * each store before a compare-and-swap takes time.
 */
struct haft_worker_front {
    uint32_t version;     /* the library's HAFT_TABLE_FRONT; the first member of all versions */
    uint32_t object_size; /* of objects that haft_insert() copies by words */
    uint64_t above_index; /* all bits above the index, which is minus generation 1 */
    uint64_t used_from;   /* lower words are fresh memory; the highest: no insertion in place */
    uint64_t called_from; /* `used_from` for the call haft_insert() */
    uint64_t last_life;   /* ids from here on are in their slot's last life; 0: no free in place */
    haft_view view;       /* the table's */

    uintptr_t use_at;  /* address of the slot to be used next, in its batch, less 4 * inserted */
    uintptr_t free_at; /* address for the slot freed next, in its batch, less 4 * freed */
    uint64_t use_to;   /* `inserted` when the batch is used up */
    uint64_t look_at;  /* `freed` from which on a free does more */
    haft_atomic_u64 inserted;
    haft_atomic_u64 freed;
};

/* A slot that was taken for an insertion. */
struct haft_front_slot {
    haft_atomic_u64 *word; /* the object lies behind it */
    haft_id id;            /* to be */
    uint64_t inserted;     /* before it */
};

/* haft_worker_has_front - whether the library is of the version of these headers. */
HAFT_ONLY_INLINE bool haft_worker_has_front(const haft_worker *worker)
{
    const struct haft_worker_front *front =
        HAFT_CAST(const struct haft_worker_front *, HAFT_CAST(const void *, worker));

    return front->version == HAFT_TABLE_FRONT;
}

/*
 * Not for programs: the place of number `count` in a batch.  `from`: the address of the batch, less
 * 4 for each number before its first one.
 */
HAFT_ONLY_INLINE uint32_t *haft_front_place(uintptr_t from, uint64_t count)
{
    return HAFT_BITS(uint32_t *, from + HAFT_CAST(uintptr_t, count) * sizeof(uint32_t));
}

/*
 * Not for programs: the worker's next slot, which haft_worker_front_put() uses; false: the call
 * must do it.  `used_from`: the worker's member of that name, or the bound of a call.
 */
HAFT_ONLY_INLINE bool haft_worker_front_take(const haft_worker *worker, haft_view view,
                                             uint64_t used_from, struct haft_front_slot *slot)
{
    const struct haft_worker_front *front =
        HAFT_CAST(const struct haft_worker_front *, HAFT_CAST(const void *, worker));
    const uint64_t inserted = haft_load_relaxed(HAFT_EDGE_OWN, &front->inserted);

    if (HAFT_IF_UNLIKELY(inserted == front->use_to)) {
        return false;
    }
    const uint64_t index = *haft_front_place(front->use_at, inserted);
    haft_atomic_u64 *at =
        HAFT_CAST(haft_atomic_u64 *, HAFT_CAST(void *, view.base + index * view.stride));
    const uint64_t word = haft_load_relaxed(HAFT_EDGE_OWN, at);

    if (HAFT_IF_UNLIKELY(word < used_from)) {
        return false;
    }
    slot->word = at;
    slot->id.bits = (word & front->above_index) | index;
    slot->inserted = inserted;
    return true;
}

/* Not for programs: the object of the slot is there; its id is live. */
HAFT_ONLY_INLINE void haft_worker_front_put(haft_worker *worker, struct haft_front_slot slot)
{
    struct haft_worker_front *front =
        HAFT_CAST(struct haft_worker_front *, HAFT_CAST(void *, worker));

    haft_store_release(HAFT_EDGE_TALLY, &front->inserted, slot.inserted + 1);
    /* Weakened, a reader could match the id and read the object's bytes from before. */
    haft_store_release(HAFT_EDGE_PUBLISH, slot.word, slot.id.bits);
}

/*
 * Not for programs: free `id` in place; false, with nothing changed, if the call must do it.
 * `last_life`: the worker's, or the table's where the call was checked.
 */
HAFT_ONLY_INLINE bool haft_worker_front_free(haft_worker *worker, haft_view view,
                                             uint64_t last_life, haft_id id)
{
    struct haft_worker_front *front =
        HAFT_CAST(struct haft_worker_front *, HAFT_CAST(void *, worker));
    const uint64_t index = id.bits & view.mask;
    haft_atomic_u64 *at =
        HAFT_CAST(haft_atomic_u64 *, HAFT_CAST(void *, view.base + index * view.stride));
    const uint64_t freed = haft_load_relaxed(HAFT_EDGE_COUNT, &front->freed);
    uint32_t *place = haft_front_place(front->free_at, freed);

    if (HAFT_IF_UNLIKELY(haft_load_relaxed(HAFT_EDGE_RETRY, at) != id.bits) ||
        HAFT_IF_UNLIKELY(id.bits >= last_life) || HAFT_IF_UNLIKELY(freed + 1 >= front->look_at)) {
        return false;
    }
    /* A live id has its own index: the next generation, and the mark in its place. */
    const uint64_t next = id.bits - index - front->above_index + HAFT_FRONT_FREE;

    /* Weakened, the slot's next tenant could be written before the object's first bytes are. */
    if (HAFT_IF_UNLIKELY(!haft_cas_acquire(HAFT_EDGE_PUBLISH, at, id.bits, next))) {
        return false;
    }
    *place = HAFT_CAST(uint32_t, index);
    haft_store_relaxed(HAFT_EDGE_COUNT, &front->freed, freed + 1);
    return true;
}

/*
 * haft_insert_front - as haft_insert(); `view` is the table's own, `size` the size of its objects.
 *
 * Returns   as haft_insert().
 * Ordering  as haft_insert().
 * Progress  lock-free.
 * Cost      as haft_insert().
 */
HAFT_ONLY_INLINE haft_status haft_insert_front(haft_worker *worker, haft_view view,
                                               const void *object, size_t size, haft_id *id)
{
    const struct haft_worker_front *front =
        HAFT_CAST(const struct haft_worker_front *, HAFT_CAST(const void *, worker));
    struct haft_front_slot slot;

    if (HAFT_IF_UNLIKELY(object == NULL) ||
        !haft_worker_front_take(worker, view, front->used_from, &slot)) {
        /* Into a variable of this block: the caller's may stay in a register. */
        haft_id inserted;
        const haft_status status = haft_insert(worker, object, &inserted);

        if (status == HAFT_OK) {
            *id = inserted;
        }
        return status;
    }
    void *bytes = slot.word + 1;

    memcpy(bytes, object, size);
    haft_worker_front_put(worker, slot);
    *id = slot.id;
    return HAFT_OK;
}

/*
 * haft_free_front - as haft_free(); `view` is the table's own.
 *
 * Returns   as haft_free().
 * Ordering  as haft_free().
 * Progress  lock-free.
 * Cost      as haft_free().
 */
HAFT_ONLY_INLINE haft_status haft_free_front(haft_worker *worker, haft_view view, haft_id id)
{
    const struct haft_worker_front *front =
        HAFT_CAST(const struct haft_worker_front *, HAFT_CAST(const void *, worker));

    return haft_worker_front_free(worker, view, front->last_life, id) ? HAFT_OK
                                                                      : haft_free(worker, id);
}

#ifdef __cplusplus
}
#endif

#endif /* HAFT_DETAIL_TABLE_FRONT_H */

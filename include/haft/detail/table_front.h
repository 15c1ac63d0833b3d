/*
 * haft/detail/table_front.h - insertion and free in place: the common way of haft_table, without a
 * call.
 *
 * haft_insert() and haft_free() for code that knows the size of its objects and the distance of its
 * slots as constants: typed tables (haft/typed.h) use it.  What is not common (no slot or no room
 * in the worker's batches, fresh memory, a slot's last life, an exact capacity, allocation sites)
 * is a call of those two.  So is everything if the library was built with its assertions or with
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
 *            life_publish() and life_end() (concurrent/table/life.h)
 *   TALLY    haft_worker_front_put (release) -> taken_slots (acquire)   as tally()
 *   COUNT    a counter that one worker writes and any thread may read
 *   OWN      the slot's word is the worker's until it is published; its counters are
 *   RETRY    a first look; the compare-and-swap decides
 */
#ifndef HAFT_DETAIL_TABLE_FRONT_H
#define HAFT_DETAIL_TABLE_FRONT_H

#include <haft/table.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with the two structs below and with what their members mean. */
#define HAFT_TABLE_FRONT 1

#define HAFT_FRONT_SLOTS 128 /* in a batch */
#define HAFT_FRONT_FREE 3    /* in the index field of a slot that was freed */

/* What a batch begins with. */
struct haft_batch_front {
    uint32_t count;
    uint32_t room[15];
    uint32_t indices[HAFT_FRONT_SLOTS];
};

/*
 * What a haft_worker begins with, in one cache line.  The library alone writes it otherwise than by
 * the functions below, which are all that programs should use of it.
 */
struct haft_worker_front {
    struct haft_batch_front *filling; /* slots to be used */
    struct haft_batch_front *open;    /* slots freed */
    uint64_t used_from;   /* lower words are fresh memory; the highest: no insertion in place */
    uint64_t last_life;   /* ids from here on are in their slot's last life; 0: no free in place */
    uint64_t above_index; /* all bits above the index, which is minus generation 1 */
    uint32_t look_at;     /* slots in the open batch from which on a free does more */
    uint32_t version;     /* the library's HAFT_TABLE_FRONT */
    haft_atomic_u64 inserted;
    haft_atomic_u64 freed;
};

/*
 * haft_worker_has_front - whether the worker is as these headers know it: the library is of their
 * version.
 */
static inline bool haft_worker_has_front(const haft_worker *worker)
{
    const struct haft_worker_front *front = (const struct haft_worker_front *)(const void *)worker;

    return front->version == HAFT_TABLE_FRONT;
}

/*
 * Not for programs: the worker's next slot is taken for `id`, which haft_worker_front_put() makes
 * live; or NULL.  `used_from`: the worker's, or the table's where the call was checked.
 */
static inline haft_atomic_u64 *haft_worker_front_take(haft_worker *worker, haft_view view,
                                                      uint64_t used_from, haft_id *id)
{
    const struct haft_worker_front *front = (const struct haft_worker_front *)(const void *)worker;
    struct haft_batch_front *filling = front->filling;
    const uint32_t count = filling->count;

    if (__builtin_expect(count == 0, 0)) {
        return NULL;
    }
    const uint64_t index = filling->indices[count - 1];
    haft_atomic_u64 *at = (haft_atomic_u64 *)(void *)(view.base + index * view.stride);
    const uint64_t word = haft_load_relaxed(HAFT_EDGE_OWN, at);

    if (__builtin_expect(word < used_from, 0)) {
        return NULL;
    }
    filling->count = count - 1;
    id->bits = (word & front->above_index) | index;
    return at;
}

/* Not for programs: the object of a slot that was taken is there; `id` is live. */
static inline void haft_worker_front_put(haft_worker *worker, haft_atomic_u64 *at, haft_id id)
{
    struct haft_worker_front *front = (struct haft_worker_front *)(void *)worker;

    haft_store_release(HAFT_EDGE_TALLY, &front->inserted,
                       haft_load_relaxed(HAFT_EDGE_OWN, &front->inserted) + 1);
    /* Weakened, a reader could match the id and read the object's bytes from before. */
    haft_store_release(HAFT_EDGE_PUBLISH, at, id.bits);
}

/*
 * Not for programs: free `id` in place; false, with nothing changed, if the call must do it.
 * `last_life`: the worker's, or the table's where the call was checked.
 */
static inline bool haft_worker_front_free(haft_worker *worker, haft_view view, uint64_t last_life,
                                          haft_id id)
{
    struct haft_worker_front *front = (struct haft_worker_front *)(void *)worker;
    struct haft_batch_front *open = front->open;
    const uint64_t index = id.bits & view.mask;
    haft_atomic_u64 *at = (haft_atomic_u64 *)(void *)(view.base + index * view.stride);
    const uint32_t count = open->count;

    if (__builtin_expect(haft_load_relaxed(HAFT_EDGE_RETRY, at) != id.bits, 0) ||
        __builtin_expect(id.bits >= last_life, 0) ||
        __builtin_expect(count + 1 >= front->look_at, 0)) {
        return false;
    }
    /* A live id has its own index: the next generation, and the mark in its place. */
    const uint64_t next = id.bits - index - front->above_index + HAFT_FRONT_FREE;

    /* Weakened, the slot's next tenant could be written before the object's first bytes are. */
    if (__builtin_expect(!haft_cas_acquire(HAFT_EDGE_PUBLISH, at, id.bits, next), 0)) {
        return false;
    }
    haft_store_relaxed(HAFT_EDGE_COUNT, &front->freed,
                       haft_load_relaxed(HAFT_EDGE_COUNT, &front->freed) + 1);
    open->indices[count] = (uint32_t)index;
    open->count = count + 1;
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
static inline haft_status haft_insert_front(haft_worker *worker, haft_view view, const void *object,
                                            size_t size, haft_id *id)
{
    const struct haft_worker_front *front = (const struct haft_worker_front *)(const void *)worker;
    haft_id taken;
    haft_atomic_u64 *at =
        object != NULL ? haft_worker_front_take(worker, view, front->used_from, &taken) : NULL;

    if (__builtin_expect(at == NULL, 0)) {
        /* Through a variable of this function: the caller's may stay in a register. */
        const haft_status status = haft_insert(worker, object, &taken);

        if (status == HAFT_OK) {
            *id = taken;
        }
        return status;
    }
    void *bytes = at + 1;

    memcpy(bytes, object, size);
    haft_worker_front_put(worker, at, taken);
    *id = taken;
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
static inline haft_status haft_free_front(haft_worker *worker, haft_view view, haft_id id)
{
    const struct haft_worker_front *front = (const struct haft_worker_front *)(const void *)worker;

    return haft_worker_front_free(worker, view, front->last_life, id) ? HAFT_OK
                                                                      : haft_free(worker, id);
}

#ifdef __cplusplus
}
#endif

#endif /* HAFT_DETAIL_TABLE_FRONT_H */

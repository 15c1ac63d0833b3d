/*
 * calls.h - the haft calls whose answers are checked.
 *
 * A build with -DREPLAY_BREAK=<one of these> gets wrong answers on purpose, now and then: a test
 * builds each and demands that the checks notice.
 */
#ifndef REPLAY_CALLS_H
#define REPLAY_CALLS_H

#include <haft/table.h>

#define BREAK_NOTHING 0
#define BREAK_FIND_STALE 1     /* an id whose object was freed leads to whatever is there now */
#define BREAK_FIND_NOTHING 2   /* a live object is not found */
#define BREAK_FIND_OTHER 3     /* another object is found */
#define BREAK_FREE_TWICE 4     /* a second free succeeds as well */
#define BREAK_FREE_NEIGHBOUR 5 /* a second free ends the life of the slot's new tenant */
#define BREAK_FREE_NOTHING 6   /* a free succeeds and frees nothing */

#ifndef REPLAY_BREAK
#define REPLAY_BREAK BREAK_NOTHING
#endif

/* Whether this build's mistake is made with this id: with one in about a hundred. */
static inline bool breaks(int kind, haft_id id)
{
    return REPLAY_BREAK == kind && (id.bits ^ id.bits >> 32) % 101 == 0;
}

/* The bytes of the slot that an id leads to, live or not. */
static inline void *bytes_at(haft_view view, haft_id id)
{
    return view.base + (id.bits & view.mask) * view.stride + sizeof(uint64_t);
}

/* Waits for a grace period when slots are short; not to be called inside a read section. */
static inline haft_status call_insert(haft_worker *worker, const void *object, haft_id *id)
{
    const haft_status status = haft_insert(worker, object, id);

    return status == HAFT_BUSY ? haft_insert_wait(worker, object, id) : status;
}

static inline void *call_resolve(haft_view view, haft_id id)
{
    void *object = haft_resolve(view, id);

    if (breaks(BREAK_FIND_STALE, id)) {
        return bytes_at(view, id);
    }
    if (object != NULL && breaks(BREAK_FIND_OTHER, id)) {
        id.bits ^= 1;
        return bytes_at(view, id);
    }
    return breaks(BREAK_FIND_NOTHING, id) ? NULL : object;
}

static inline haft_status call_free(haft_worker *worker, haft_id id)
{
    const haft_status status = breaks(BREAK_FREE_NOTHING, id) ? HAFT_OK : haft_free(worker, id);

    if (status != HAFT_OK && breaks(BREAK_FREE_NEIGHBOUR, id)) {
        const haft_view view = haft_table_view(haft_worker_table(worker));

        id.bits = haft_load_acquire(HAFT_EDGE_PUBLISH, haft_slot_of(view, id));
        haft_free(worker, id);
    }
    return breaks(BREAK_FREE_TWICE, id) ? HAFT_OK : status;
}

#endif /* REPLAY_CALLS_H */

/*
 * haft/run.h - walking over slots that lie one after another.
 *
 * A run is a range of slots that are looked at in turn, by the view alone: no call, one load and
 * one comparison a slot.  It knows nothing of fresh slots: haft/scan.h, which leaves them out,
 * makes a run of each stretch between them.
 *
 * Edges in this file.
 *   PUBLISH  haft_publish (release) -> haft_run_next (acquire)   object before word
 */
#ifndef HAFT_RUN_H
#define HAFT_RUN_H

#include <haft/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Slots by index: `from` and those after it, but not `to`.  Empty when they are equal. */
typedef struct haft_range {
    uint64_t from;
    uint64_t to;
} haft_range;

#ifdef __cplusplus
#define HAFT_RANGE(from, to) (haft_range{from, to})
#else
#define HAFT_RANGE(from, to) ((haft_range){from, to})
#endif

/* Every slot that a table has. */
#define HAFT_EVERYTHING HAFT_RANGE(0, UINT64_MAX)

/* A value like any other: a copy goes on by itself. */
typedef struct haft_run {
    haft_view view;
    haft_range left; /* not looked at yet */
    char *slot;      /* where the first of these lies */
} haft_run;

/*
 * haft_run_over - a run over the slots of `range`, without those that no table has.
 *
 * Returns   the run.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1): no memory is touched.
 */
static inline haft_run haft_run_over(haft_view view, haft_range range)
{
    const uint64_t to = range.to > view.mask ? view.mask + 1 : range.to;
    const uint64_t from = range.from < HAFT_FIRST_INDEX ? HAFT_FIRST_INDEX : range.from;
    haft_run run = {view, {to, to}, view.base};

    if (from < to) {
        run.left.from = from;
        run.slot = view.base + from * view.stride;
    }
    return run;
}

/*
 * haft_run_next - the next live object of a run.
 *
 * Returns   true, the object's id in `*id` and its bytes in `*object`.  False, with both
 *           untouched, when no slot is left.
 * Threads   one at a time; else as haft_resolve().
 * Ordering  acquire for each object: all that was written before haft_publish() is visible.
 * Progress  wait-free.
 * Cost      O(slots passed): one load and one comparison each, no store to shared memory.
 */
static inline bool haft_run_next(haft_run *run, haft_id *id, void **object)
{
    while (run->left.from < run->left.to) {
        const uint64_t index = run->left.from++;
        char *slot = run->slot;
        const uint64_t word =
            haft_load_acquire(HAFT_EDGE_PUBLISH, (const haft_atomic_u64 *)(const void *)slot);

        run->slot = slot + run->view.stride;
        if ((word & run->view.mask) == index) { /* only a live slot's word leads to itself */
            id->bits = word;
            *object = slot + sizeof(uint64_t);
            return true;
        }
    }
    return false;
}

#ifdef __cplusplus
}
#endif

#endif /* HAFT_RUN_H */

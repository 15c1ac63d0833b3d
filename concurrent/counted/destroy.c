/*
 * The end of counted objects.
 *
 * The outermost call that destroys has a frame on its stack, which a pointer of the thread leads
 * to.  Signal handlers of the thread may destroy between any two steps: they find the frame and
 * push to its chain, or have a frame of their own.  So the chain is taken by exchange, and looked
 * at once more after the frame is left.
 *
 * Edges in this file.
 *   FRAME    enter_frame, leave_frame, take_chain (release) -> frame_of, destroy_object, take_chain
 *            (acquire)   a frame's members before the pointer to it, and leaving it before the last
 *            look at its chain, for signal handlers of this thread
 *   OWN      the slot's word, by its one owner; the chain, which defer pushes to, by one thread and
 *            its signal handlers
 */
#include "concurrent/counted/destroy.h"
#include "concurrent/counted/free_slots.h"
#include "concurrent/counted/returned.h"
#include "concurrent/counted/values.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"
#include <assert.h>
#include <string.h>

struct frame {
    const haft_counted *table;
    struct frame *outer;
    atomic_u64 chain; /* the first slot, whose word leads on; COUNTED_ENDING: none */
};

static THREAD_LOCAL atomic_u64 innermost; /* a struct frame *; of this thread alone */

/* The thread's frame for the table; NULL: there is none. */
static struct frame *frame_of(const haft_counted *table)
{
    /* Weakened, a signal handler could read the frame's members from before it was entered. */
    struct frame *frame = (struct frame *)(uintptr_t)load_acquire(FRAME, &innermost);

    while (frame != NULL && frame->table != table) {
        frame = frame->outer;
    }
    return frame;
}

bool destroy_is_under_way(const haft_counted *table)
{
    return frame_of(table) != NULL;
}

static void enter_frame(struct frame *frame)
{
    /* Weakened, a signal handler could find a frame that is not filled in. */
    store_release(FRAME, &innermost, (uintptr_t)frame);
}

static void leave_frame(const struct frame *frame)
{
    assert(load_relaxed(OWN, &innermost) == (uintptr_t)frame && "handlers leave their frames");
    /* Weakened, a signal handler could destroy in another frame while this one still does. */
    store_release(FRAME, &innermost, (uintptr_t)frame->outer);
}

static uint64_t take_chain(struct frame *frame)
{
    /* Release: weakened, the last look could come before the frame is left: what a signal handler
     * puts into the chain in between would stay there.  Acquire: weakened, the words of the slots
     * that handlers put there could be from before. */
    return exchange_acq_rel(FRAME, &frame->chain, COUNTED_ENDING);
}

/* Put slot `index` into the frame's chain. */
static void defer(haft_counted *table, struct frame *frame, uint64_t index)
{
    atomic_u64 *at = counted_at(table, index);
    const uint32_t life = counted_life(load_relaxed(OWN, at));
    uint64_t first;

    assert(frame->table == table);
    do {
        first = load_relaxed(OWN, &frame->chain);
        store_relaxed(OWN, at, counted_word(life, COUNTED_RESERVED, first));
    } while (!cas_relaxed(OWN, &frame->chain, first, index));
}

void destroy_silently(haft_counted *table, uint64_t index)
{
    atomic_u64 *at = counted_at(table, index);
    const uint32_t life = counted_life(load_relaxed(OWN, at));

    assert(counted_state_of(load_relaxed(OWN, at)) == COUNTED_RESERVED);
    if (table->wipes) {
        values_wipe(table, counted_object(at));
    }
    values_poison(table, counted_object(at));
    if (counted_is_exhausted(table, life)) {
        store_relaxed(OWN, at, counted_word(life, COUNTED_RESERVED, COUNTED_EXHAUSTED));
        returned_add(table);
    } else {
        free_slots_give(table, index, life);
    }
}

static void destroy_one(haft_counted *table, uint64_t index)
{
    atomic_u64 *at = counted_at(table, index);
    const uint32_t life = counted_before(table, counted_life(load_relaxed(OWN, at)));

    table->on_destroy(counted_object(at), counted_id(table, index, life), table->destroy_arg);
    destroy_silently(table, index);
}

/* Destroy the slots of the chain, and what its destructions add to it. */
static void run(haft_counted *table, struct frame *frame, uint64_t chain)
{
    while (chain != COUNTED_ENDING) {
        const uint64_t index = chain;

        assert(index >= HAFT_FIRST_INDEX);
        chain = counted_low(load_relaxed(OWN, counted_at(table, index)));
        destroy_one(table, index);
        if (chain == COUNTED_ENDING) {
            chain = take_chain(frame);
        }
    }
}

void destroy_object(haft_counted *table, uint64_t index)
{
    if (table->on_destroy == NULL) {
        destroy_silently(table, index);
        return;
    }
    struct frame *outer = frame_of(table);

    if (outer != NULL) {
        defer(table, outer, index);
        return;
    }
    const int cancel = os_cancel_off(); /* once for a chain */
    struct frame frame = {.table = table};

    /* Weakened, a walk through this frame could find members of the outer one from before. */
    frame.outer = (struct frame *)(uintptr_t)load_acquire(FRAME, &innermost);
    store_relaxed(OWN, &frame.chain, COUNTED_ENDING);
    for (uint64_t chain = index; chain != COUNTED_ENDING; chain = take_chain(&frame)) {
        enter_frame(&frame);
        run(table, &frame, chain);
        leave_frame(&frame);
    }
    os_cancel_restore(cancel);
}

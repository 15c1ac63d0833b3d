/*
 * concurrent/counted/returned.h - slots that no call will use again: how closing knows that no call
 * is under way.
 *
 * A call that finds the table closed, or exhausts a slot, counts it here instead of giving it to a
 * list.  With min_free each slot given to the queue counts as well: see queue.c.
 *
 * Edges in this file.
 *   RETURN   returned_add (release) -> returned_count (acquire)   all uses of a slot before the
 *            table's memory is released
 */
#ifndef HAFT_CONCURRENT_COUNTED_RETURNED_H
#define HAFT_CONCURRENT_COUNTED_RETURNED_H

#include "concurrent/counted/state.h"
#include "lib/base/os.h"

/* A thread waits for the next one. */
#define RETURNED_IS_AWAITED (UINT64_C(1) << 63)

/* The caller's last access to the table, if that is closed. */
static inline void returned_add(haft_counted *table)
{
    atomic_u64 *returned = &table->block->returned.word;

    /* Weakened, the table's memory could be released under the call's last write to the slot. */
    if ((fetch_add_release(RETURN, returned, 1) & RETURNED_IS_AWAITED) != 0) {
        os_wake_address(returned); /* the address alone: the memory may be gone */
    }
}

static inline uint64_t returned_count(const haft_counted *table)
{
    /* Weakened, the memory could be released under a call that was counted. */
    return load_acquire(RETURN, &table->block->returned.word) & ~RETURNED_IS_AWAITED;
}

#endif /* HAFT_CONCURRENT_COUNTED_RETURNED_H */

/*
 * Batches.
 *
 * Edges in this file.
 *   OWN   this thread alone has both batches
 */
#include "concurrent/batches/batch.h"
#include "lib/base/walk.h"
#include <assert.h>
#include <string.h>

void batch_move(struct batch *to, struct batch *from, uint32_t most)
{
    assert(to != from && most <= BATCH_SLOTS);
    assert(to->count <= most && from->count <= BATCH_SLOTS);
    const uint32_t room = most - to->count;
    const uint32_t moved = from->count < room ? from->count : room;
    const uint64_t ticket = load_relaxed(OWN, &from->ticket);

    from->count -= moved;
    memcpy(&to->indices[to->count], &from->indices[from->count], moved * sizeof to->indices[0]);
    to->count += moved;
    assert(to->count <= most && "a batch has no more slots than it has room for");
    assert_walk(batch_is_sound(to) && batch_is_sound(from));
    to->has_last_lives = to->has_last_lives || from->has_last_lives;
    if (ticket > load_relaxed(OWN, &to->ticket)) {
        store_relaxed(OWN, &to->ticket, ticket);
    }
}

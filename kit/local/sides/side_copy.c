/*
 * Copies of sides.
 *
 * Edges in this file.
 *   OWN   one thread uses a local table
 */
#include "kit/local/sides/side_copy.h"
#include <assert.h>
#include <string.h>

/* Those before it have no values, and may have no memory. */
static char *first_entry(const haft_side *side)
{
    return side->entries.base + HAFT_FIRST_INDEX * side->entries.stride;
}

/* Of all entries that have had values: that number only grows. */
static uint64_t bytes_used(const haft_side *side)
{
    return (load_relaxed(OWN, &side->used) - HAFT_FIRST_INDEX) * side->entries.stride;
}

static struct side_copy *copy_side(const haft_side *side, const haft_allocator *heap)
{
    const uint64_t bytes = bytes_used(side);
    struct side_copy *copy =
        heap_take(heap, sizeof *copy + (size_t)bytes, _Alignof(struct side_copy));

    if (copy != NULL) {
        *copy = (struct side_copy){.number = side->number, .bytes = bytes};
        if (bytes != 0) {
            memcpy(copy + 1, first_entry(side), (size_t)bytes);
        }
    }
    return copy;
}

haft_status sides_copy(const atomic_u64 *list, const haft_allocator *heap,
                       struct side_copy **copies)
{
    struct side_copy *first = NULL;

    for (const haft_side *side = sides_first(list); side != NULL; side = side->next) {
        if (side->on_end != NULL) {
            continue;
        }
        struct side_copy *copy = copy_side(side, heap);

        if (copy == NULL) {
            side_copies_free(heap, first);
            return HAFT_NO_MEMORY;
        }
        copy->next = first;
        first = copy;
    }
    *copies = first;
    return HAFT_OK;
}

void side_copies_free(const haft_allocator *heap, struct side_copy *copies)
{
    for (struct side_copy *copy = copies, *next; copy != NULL; copy = next) {
        next = copy->next;
        heap_give(heap, copy, sizeof *copy + (size_t)copy->bytes);
    }
}

uint64_t side_copies_bytes(const struct side_copy *copies)
{
    uint64_t bytes = 0;

    for (const struct side_copy *copy = copies; copy != NULL; copy = copy->next) {
        bytes += sizeof *copy + copy->bytes;
    }
    return bytes;
}

static const struct side_copy *copy_of(const haft_side *side, const struct side_copy *copies)
{
    while (copies != NULL && copies->number != side->number) {
        copies = copies->next;
    }
    return copies;
}

static void become(const haft_side *side, const struct side_copy *copy)
{
    const uint64_t own = bytes_used(side);
    const uint64_t kept = copy != NULL ? copy->bytes : 0;

    assert(kept <= own && "entries that were set once stay");
    if (kept != 0) {
        memcpy(first_entry(side), copy + 1, (size_t)kept);
    }
    if (own != kept) {
        memset(first_entry(side) + kept, 0, (size_t)(own - kept));
    }
}

void sides_become(const atomic_u64 *list, const struct side_copy *copies)
{
    for (const haft_side *side = sides_first(list); side != NULL; side = side->next) {
        if (side->on_end == NULL) {
            become(side, copy_of(side, copies));
        }
    }
}

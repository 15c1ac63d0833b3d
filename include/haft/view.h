/*
 * haft/view.h - resolving ids: what every table has in common.
 *
 * A view is the immutable part of a table that resolving needs.  haft_local_view() and
 * haft_table_view() give it; it stays valid and unchanged until the table is closed, so copy it
 * wherever ids are resolved often.
 *
 * Memory: slot s lies at base + s * stride: first its atomic word, then the object.  A live
 * slot's word is exactly its object's id, and no other word is ever equal to an id that leads
 * to its slot, so one comparison answers everything: in range, live, right life, right table.
 *
 * Edges in this file.
 *   PUBLISH  haft_publish (release) -> haft_resolve, haft_is_live (acquire)   object before word
 */
#ifndef HAFT_VIEW_H
#define HAFT_VIEW_H

#include <haft/atomics.h>
#include <haft/id.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_view {
    char *base;      /* slot 0's word */
    uint64_t mask;   /* number of slots in address space, a power of two, less one */
    uint64_t stride; /* bytes from slot to slot */
} haft_view;

/*
 * haft_slot_of - where the slot that an id leads to has its word.  For any bits at all the
 * result lies in the table's address range; it says nothing about whether the id is live.
 *
 * Returns   the address.
 * Threads   any.
 * Ordering  none: nothing is loaded.
 * Progress  wait-free.
 * Cost      O(1).
 */
static inline const haft_atomic_u64 *haft_slot_of(haft_view view, haft_id id)
{
    return (const haft_atomic_u64 *)(const void *)(view.base + (id.bits & view.mask) * view.stride);
}

/*
 * haft_resolve - the object an id names, or NULL.
 *
 * Returns   pointer to the object's bytes; NULL if `id` is HAFT_NIL, malformed, from another
 *           table, or names an object since freed.  A stale id is an answer, not an error.
 *           Ids from other tables are told apart by tag bits for certain, by generation only
 *           by chance.
 * Threads   any thread inside a read section of the table's domain, alongside any call but
 *           haft_table_close().  The pointer may be used until the section ends, even if the
 *           object is freed meanwhile.  For a haft_local: the table's thread; the pointer may
 *           be used until the object is freed.
 *           haft protects the object's lifetime, not its contents: threads that write to one
 *           object must synchronise among themselves.
 * Ordering  acquire when non-NULL: all that was written before haft_publish() is visible.
 *           None when NULL.
 * Progress  wait-free.
 * Cost      O(1): one load of shared memory, no store, no branch on the index.
 */
static inline void *haft_resolve(haft_view view, haft_id id)
{
    char *slot = view.base + (id.bits & view.mask) * view.stride;
    const uint64_t word =
        haft_load_acquire(HAFT_EDGE_PUBLISH, (const haft_atomic_u64 *)(const void *)slot);

    return word == id.bits ? slot + sizeof(uint64_t) : NULL;
}

/*
 * haft_is_live - whether the id names a live object at this moment.
 *
 * Returns   true or false: a snapshot.  Another thread may free the object before the caller
 *           acts on the answer; only a resolve inside a read section closes that race.
 * Threads   any, also outside read sections, alongside any call but haft_table_close().
 * Ordering  acquire when true; none when false.
 * Progress  wait-free.
 * Cost      as haft_resolve().
 */
static inline bool haft_is_live(haft_view view, haft_id id)
{
    return haft_load_acquire(HAFT_EDGE_PUBLISH, haft_slot_of(view, id)) == id.bits;
}

/*
 * haft_resolve_many - resolve `count` ids, with the memory of later ones fetched meanwhile.
 *
 * Returns   how many of the ids are live.  objects[i] is what haft_resolve(view, ids[i]) gives.
 * Threads   as haft_resolve(); `ids` and `objects` are the caller's and may not overlap.
 * Ordering  as haft_resolve(), for each id.
 * Progress  wait-free.
 * Cost      O(count).  It pays where much is done with each object before the next: a loop of bare
 *           resolves overlaps its cache misses by itself, and is faster one at a time.
 */
size_t haft_resolve_many(haft_view view, const haft_id *ids, void **objects, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_VIEW_H */

/*
 * haft/view.h - resolving ids: what every table has in common; refs, and walking over slots.
 *
 * A view is the immutable part of a table that resolving needs.  haft_local_view() and
 * haft_table_view() give it; it stays valid and unchanged until the table is closed, so copy it
 * wherever ids are resolved often.
 *
 * Memory: slot s lies at base + s * stride: first its atomic word, then the object.  A live slot's
 * word is exactly its object's id, and no other word is ever equal to an id that leads to its slot,
 * so one comparison answers everything: in range, live, right generation, and right table (for
 * certain with tag bits).
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 *
 * Edges in this file.
 *   PUBLISH  haft_publish (release) -> haft_resolve, haft_is_live, haft_ref_get, haft_ref_is_live,
 *            haft_run_next (acquire)   object before word
 */
#ifndef HAFT_VIEW_H
#define HAFT_VIEW_H

#include <haft/detail/atomics.h>
#include <haft/detail/compiler.h>
#include <haft/detail/inline.h>
#include <haft/id.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The word at an address of bytes. */
#define HAFT_WORD(bytes) HAFT_CAST(const haft_atomic_u64 *, HAFT_CAST(const void *, bytes))

typedef struct haft_view {
    char *base;      /* slot 0's word */
    uint64_t mask;   /* number of slots in address space, a power of two, less one */
    uint64_t stride; /* bytes from slot to slot */
} haft_view;

/*
 * HAFT_VIEW_EMPTY - an initialiser: a view in which no id is found, whatever its bits, for what is
 * not open yet.  A typed view (haft/typed.h) cannot be made of it; those of haft/haft.hpp are empty
 * before they are a table's.
 *
 *   static haft_view ships = HAFT_VIEW_EMPTY;
 */
#define HAFT_VIEW_EMPTY                                                                            \
    {                                                                                              \
        HAFT_BITS(char *, HAFT_BITS(uintptr_t, haft_no_slots)), 1, sizeof(uint64_t)                \
    }

/* Two slots: ids that are odd lead to an even word, and even ones to an odd word. */
HAFT_CONSTANT(uint64_t haft_no_slots[2], 1, 0);

/* Not for programs: the word of the slot that an id leads to; for any bits at all, the table's. */
HAFT_INLINE const haft_atomic_u64 *haft_slot_of(haft_view view, haft_id id)
{
    return HAFT_WORD(view.base + (id.bits & view.mask) * view.stride);
}

/*
 * haft_resolve - the object an id names, or NULL.
 *
 * Returns   pointer to the object's bytes; NULL if `id` is HAFT_NIL, malformed, from another table,
 *           or names an object since freed.  A stale id is an answer, not an error.  Tag bits tell
 *           ids of other tables apart for certain, generations only by chance.
 * Threads   any thread inside a read section of the table's domain, alongside any call but
 *           haft_table_close().  The pointer may be used until the section ends, even if the object
 *           is freed meanwhile; threads that write to one object must synchronise among themselves.
 *           For a haft_local: the table's thread, until the object is freed.
 * Ordering  acquire when non-NULL: all that was written before haft_publish() is visible.  None
 *           when NULL.
 * Cost      O(1): one load of shared memory, no store, no branch on the index.
 */
HAFT_INLINE void *haft_resolve(haft_view view, haft_id id)
{
    char *at = view.base + (id.bits & view.mask) * view.stride;
    return haft_load_acquire(HAFT_EDGE_PUBLISH, HAFT_WORD(at)) == id.bits ? at + sizeof id : NULL;
}

/*
 * haft_is_live - whether the id names a live object at this moment.
 *
 * Returns   a momentary answer.  Another thread may free the object before the caller acts on it;
 *           only a resolve inside a read section closes that race.
 * Threads   any, also outside read sections, alongside any call but haft_table_close().  For a
 *           haft_local: the table's thread.
 * Ordering  acquire when true; none when false.
 * Cost      as haft_resolve().
 */
HAFT_INLINE bool haft_is_live(haft_view view, haft_id id)
{
    return haft_load_acquire(HAFT_EDGE_PUBLISH, haft_slot_of(view, id)) == id.bits;
}

/*
 * haft_resolve_many - resolve `count` ids, with the memory of later ones fetched meanwhile.  It
 * pays where much is done with each object before the next; else a loop of resolves is faster.
 *
 * Returns   how many of the ids are live.  objects[i] is what haft_resolve(view, ids[i]) gives.
 * Threads   as haft_resolve(); `ids` and `objects` are the caller's and may not overlap.
 * Ordering  as haft_resolve(), for each id.
 * Cost      O(count).
 */
size_t haft_resolve_many(haft_view view, const haft_id *ids, void **objects, size_t count);

/* --- refs: an id together with the place it leads to, checked without the table --- */

/*
 * A ref takes 16 bytes where an id takes 8 (12 with addresses of 32 bits), and spares the reader
 * the table's view.  It goes stale exactly when its id does, and is as safe to keep, with one
 * exception: it must not be used once its table has been closed.  (An id is still just a number
 * then.)  It stays good through haft_share(), haft_unshare() and haft_local_trim(), which leave
 * slots where they are.
 *
 * Refs are made by haft_ref_of() alone.  Zeroed memory is a nil ref.  A ref is not for saving or
 * sending, and one made of bytes from outside may point anywhere: give ids to others.
 *
 * Packed tables have none: their objects move.
 */

typedef struct haft_ref {
    haft_atomic_u64 *word; /* the slot's, with the object behind it; NULL: nil */
    haft_id id;
} haft_ref;

/*
 * haft_ref_of - a ref to the object that an id names; a nil one if it is not live at this moment.
 *
 * Threads   as haft_is_live().
 * Ordering  as haft_resolve().
 * Cost      as haft_resolve().
 */
HAFT_INLINE haft_ref haft_ref_of(haft_view view, haft_id id)
{
    char *object = HAFT_CAST(char *, haft_resolve(view, id));
    haft_ref ref = {NULL, {0}};

    if (object != NULL) {
        ref.word = HAFT_CAST(haft_atomic_u64 *, HAFT_CAST(void *, object - sizeof(uint64_t)));
        ref.id = id;
    }
    return ref;
}

/*
 * haft_ref_is_live - whether the object still lives at this moment, as haft_is_live().
 *
 * Threads   as haft_is_live().
 * Ordering  acquire when true; none when false.
 * Cost      one load and one comparison, and a test for nil.
 */
HAFT_INLINE bool haft_ref_is_live(haft_ref ref)
{
    return ref.word != NULL && haft_load_acquire(HAFT_EDGE_PUBLISH, ref.word) == ref.id.bits;
}

/*
 * haft_ref_get - the object, as haft_resolve() gives it for the ref's id; NULL also of a nil ref.
 *
 * Threads   as haft_resolve().
 * Ordering  as haft_resolve().
 * Cost      one load of shared memory and one comparison, and a test of the ref itself for nil.
 */
HAFT_INLINE void *haft_ref_get(haft_ref ref)
{
    return haft_ref_is_live(ref) ? ref.word + 1 : NULL;
}

/*
 * haft_ref_id - the id, live or not; HAFT_NIL of a nil ref.  No slot is touched.
 *
 * Threads   any; also after the table has been closed.
 */
HAFT_INLINE haft_id haft_ref_id(haft_ref ref)
{
    return ref.id;
}

/* --- runs: walking over slots that lie one after another --- */

/*
 * A run is a range of slots that are looked at in turn, by the view alone: no call, one load and
 * one comparison a slot.  It knows nothing of fresh slots: haft/scan.h, which leaves them out,
 * makes a run of each stretch between them.
 */

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

/* A value like any other: a copy goes on independently. */
typedef struct haft_run {
    haft_view view;
    haft_range left; /* not looked at yet */
    char *slot;      /* where the first of these lies */
} haft_run;

/* haft_run_over - a run over the slots of `range`, without those that no table has. */
HAFT_INLINE haft_run haft_run_over(haft_view view, haft_range range)
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
 * Returns   true, the object's id in `*id` and its bytes in `*object`.  False, with both untouched,
 *           at the end.
 * Threads   one at a time; else as haft_resolve().
 * Ordering  acquire for each object: all that was written before haft_publish() is visible.
 * Cost      O(slots passed): one load and one comparison each, no store to shared memory.
 */
HAFT_INLINE bool haft_run_next(haft_run *run, haft_id *id, void **object)
{
    while (run->left.from < run->left.to) {
        const uint64_t index = run->left.from++;
        char *slot = run->slot;
        const uint64_t word = haft_load_acquire(HAFT_EDGE_PUBLISH, HAFT_WORD(slot));

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

#endif /* HAFT_VIEW_H */

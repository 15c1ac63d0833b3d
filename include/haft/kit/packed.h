/*
 * haft/kit/packed.h - the handle table of one thread that keeps its objects dense: no holes.
 *
 * All objects stand in one array, in positions 0 to count - 1, so that walking them is a plain loop
 * over an array; ids lead there through a small slot each:
 *
 *   const struct particle *particles = haft_packed_objects(packed);
 *   const uint64_t count = haft_packed_count(packed);
 *
 *   for (uint64_t i = 0; i < count; i++) { ... particles[i] ... }
 *
 *   id --> slot {word, position} --> objects[position], ids[position]
 *
 * Freeing closes gaps, so it moves objects.  haft_packed_insert() and haft_packed_kill() never move
 * one: a loop may kill what it meets, and haft_packed_refresh() removes all that were killed.
 * Memory: 24 bytes more than the object for each object, and 4 for each that was killed.
 *
 * Callbacks (on_destroy, and compare of haft_packed_sort()) may resolve, ask, insert and kill.
 * What moves objects (free, refresh, clear, sort, swap) is refused inside them with
 * HAFT_IN_CALLBACK; closing the table inside one is misuse.  They return: after a longjmp() or an
 * exception out of one, the table answers HAFT_IN_CALLBACK for ever.
 *
 * A loop from the last position to the first may free the object that it is at: what moves there
 * has been visited.
 *
 * In programs built with AddressSanitizer, library and all, a look behind the last object is
 * reported: such as by a pointer to it from before another was freed.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   any number at a time, while none changes the table; one that changes it.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 *
 * Edges in this file.
 *   OWN   no thread changes the table while others read it
 */
#ifndef HAFT_PACKED_H
#define HAFT_PACKED_H

#include <haft/detail/atomics.h>
#include <haft/detail/compiler.h>
#include <haft/detail/inline.h>
#include <haft/detail/options.h>
#include <haft/diagnose.h>
#include <haft/id.h>
#include <haft/kit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_packed haft_packed;

/*
 * on_destroy: called once for each object that haft_packed_free(), haft_packed_refresh(),
 * haft_packed_clear() or haft_packed_close() ends; not for objects that a rewind or a load replaces
 * (haft/kit/snapshot.h).  `object` may be read and written until it returns; `id` is the id it had,
 * which is no longer live.
 */
typedef void haft_packed_destroy(void *object, haft_id id, void *arg);

/* The growth step of a table whose memory is all made ready at opening. */
#define HAFT_PACKED_FIXED UINT64_MAX

/*
 * The objects stand object_size apart, the first one at a multiple of the largest power of two in
 * that, up to 4096: where it is a C type's size, they are aligned for that type.
 */
typedef struct haft_packed_options {
    HAFT_COMMON_OPTIONS; /* name, capacity, object_size and so on: see haft/detail/options.h */

    /*
     * How memory is made ready.  The address space for the capacity is reserved at opening, so
     * growth never moves or copies an object; arrays of up to 8 KiB are blocks of the heap.
     *   0                   the system gives each page when it is first used
     *   n                   n objects at a time, touched in advance, the first n at opening: only
     *                       an insert that begins the next n meets fresh memory
     *   HAFT_PACKED_FIXED,  all at opening: no insert gives HAFT_NO_MEMORY or meets fresh memory
     *   or the capacity
     */
    uint64_t growth_step;

    /* false: a gap is filled with the last object.  true: the objects behind it move up. */
    bool keep_order;

    haft_packed_destroy *on_destroy; /* NULL: none */
    void *destroy_arg;
} haft_packed_options;

/* What stands behind an id, or in a position. */
typedef enum haft_packed_life {
    HAFT_PACKED_UNUSED, /* no object */
    HAFT_PACKED_ALIVE,
    HAFT_PACKED_DEAD /* killed: an object until the refresh */
} haft_packed_life;

/* A slot: the word is the id while the object is live. */
typedef struct haft_packed_slot {
    haft_atomic_u64 word;
    uint32_t position;
    uint32_t death; /* 1 + place among the dead; 0: alive */
} haft_packed_slot;

/* What resolving needs.  It stays valid and unchanged until the table is closed. */
typedef struct haft_dense_view {
    const haft_packed_slot *slot; /* an array, by index */
    uint64_t mask;                /* number of slots in address space, a power of two, less one */
    char *objects;
    uint64_t object_size;
} haft_dense_view;

/*
 * haft_packed_open, haft_packed_open_sized - a new table.  It needs a capacity: `options` NULL is
 * HAFT_BAD_CAPACITY.
 *
 * Returns   HAFT_OK and the table in `*packed`; HAFT_UNKNOWN_OPTION, or HAFT_BAD_ and the name of
 *           the option; HAFT_NO_MEMORY: no address space or memory.
 * Progress  blocking (mmap, malloc).
 * Cost      O(1), and O(growth_step) memory that is touched.
 */
haft_status haft_packed_open_sized(const haft_packed_options *options, size_t size,
                                   haft_packed **packed);
HAFT_INLINE haft_status haft_packed_open(const haft_packed_options *options, haft_packed **packed)
{
    return haft_packed_open_sized(options, sizeof *options, packed);
}

/*
 * haft_packed_close - the end of the table and of all objects in it, as haft_packed_clear().
 *
 * Threads   one; not from a callback.
 * Progress  blocking (munmap, free).
 * Cost      O(memory touched), in the system; with on_destroy O(count).
 */
void haft_packed_close(haft_packed *packed);

/* haft_packed_view, haft_packed_info - where its objects are; what the table was opened with. */
haft_dense_view haft_packed_view(const haft_packed *packed);
haft_info haft_packed_info(const haft_packed *packed);

/* --- by id --- */

/*
 * haft_packed_is_live - whether the id names an object, dead or not.
 *
 * Cost      O(1): one load, no branch on the index.
 */
HAFT_INLINE bool haft_packed_is_live(haft_dense_view view, haft_id id)
{
    return haft_load_relaxed(HAFT_EDGE_OWN, &view.slot[id.bits & view.mask].word) == id.bits;
}

/*
 * haft_packed_resolve - the object an id names, or NULL.
 *
 * Returns   as haft_resolve(), dead objects too; to be used until a call that says so moves or ends
 *           the object.
 * Cost      O(1): two loads from one line, no store, no branch on the index.
 */
HAFT_INLINE void *haft_packed_resolve(haft_dense_view view, haft_id id)
{
    const haft_packed_slot *slot = &view.slot[id.bits & view.mask];

    return haft_load_relaxed(HAFT_EDGE_OWN, &slot->word) == id.bits
               ? view.objects + slot->position * view.object_size
               : NULL;
}

/*
 * Not for programs: haft_packed_require() calls it where an id does not resolve.  `slot` is where
 * the view has its slots; debug builds assert that they are the table's.
 */
HAFT_COLD void *haft_packed_require_failed(const haft_packed *packed, haft_id id, const void *slot);

/*
 * haft_packed_require - the object an id names; else the table's on_bad_access, as haft_require().
 *
 * Returns   as haft_packed_resolve().  NULL after on_bad_access has returned; without one the
 *           program is aborted.
 * Progress  wait-free except for on_bad_access.
 */
HAFT_INLINE void *haft_packed_require(const haft_packed *packed, haft_dense_view view, haft_id id)
{
    void *object = haft_packed_resolve(view, id);

    return HAFT_IF_LIKELY(object != NULL) ? object
                                          : haft_packed_require_failed(packed, id, view.slot);
}

/*
 * haft_packed_diagnose - why an id does or does not resolve: as haft_diagnose(); HAFT_OK also of
 * what is dead.  Never HAFT_RESERVED: an object is live as soon as it has an id.
 */
haft_status haft_packed_diagnose(const haft_packed *packed, haft_id id);

/*
 * haft_packed_id_at - the id of a slot by its index, which is no position: as haft_id_at(), but
 * never HAFT_RESERVED, and HAFT_OK also of what is dead.
 */
haft_status haft_packed_id_at(const haft_packed *packed, uint64_t index, haft_id *id);

/* haft_packed_state - whether the id's object is alive, dead, or (every other id) unused. */
haft_packed_life haft_packed_state(const haft_packed *packed, haft_id id);

/*
 * haft_packed_position - where an id's object stands now.
 *
 * Returns   HAFT_OK and the position in `*position`, or what haft_packed_diagnose() says.
 */
haft_status haft_packed_position(const haft_packed *packed, haft_id id, uint64_t *position);

/* --- by position --- */

/*
 * haft_packed_objects, haft_packed_ids - the objects and their ids: arrays of haft_packed_count()
 * elements, at the same addresses until the table is closed.  The ids are not to be written.  While
 * an on_destroy runs, positions of objects that are destroyed have HAFT_NIL for their id.
 */
void *haft_packed_objects(const haft_packed *packed);
const haft_id *haft_packed_ids(const haft_packed *packed);

/*
 * haft_packed_id_in, haft_packed_state_in - the object in a position: HAFT_NIL and
 * HAFT_PACKED_UNUSED from haft_packed_count() on.
 */
haft_id haft_packed_id_in(const haft_packed *packed, uint64_t position);
haft_packed_life haft_packed_state_in(const haft_packed *packed, uint64_t position);

/*
 * haft_packed_count, haft_packed_dead_count, haft_packed_available, haft_packed_is_empty - how many
 * objects there are, dead or not; how many of them are dead; how many more fit (exhausted slots are
 * lost to the capacity); whether there is none.  Objects that a call destroys count until it
 * returns.
 */
uint64_t haft_packed_count(const haft_packed *packed);
uint64_t haft_packed_dead_count(const haft_packed *packed);
uint64_t haft_packed_available(const haft_packed *packed);
bool haft_packed_is_empty(const haft_packed *packed);

/* --- changes --- */

/*
 * haft_packed_insert - a new object in the last position, a copy of object_size bytes from `object`
 * (NULL: zeros).  No object moves.
 *
 * Returns   HAFT_OK and the id in `*id`; or
 *             HAFT_FULL        the capacity is in use (or exhausted)
 *             HAFT_NO_MEMORY   the system refused memory (strict overcommit)
 * Cost      O(1), and the copy; O(growth_step) when a step begins.
 */
haft_status haft_packed_insert(haft_packed *packed, const void *object, haft_id *id);

/*
 * haft_packed_free - end an object's life, dead or not, and close the gap.  Its slot is reused
 * next, under another id, unless it has lived its last generation.
 *
 * With keep_order pointers to the object and to all behind it end; without, pointers to the object
 * and to the last one, which takes its place.
 *
 * Returns   HAFT_OK; HAFT_IN_CALLBACK; or what haft_packed_diagnose() says.
 * Progress  wait-free except for on_destroy.
 * Cost      O(1); with keep_order O(objects behind it): to remove many, kill and refresh.
 */
haft_status haft_packed_free(haft_packed *packed, haft_id id);

/*
 * haft_packed_kill - mark an object dead: haft_packed_refresh() will destroy it.  Until then it
 * stays where it is, its id is live, and it is counted.
 *
 * Returns   HAFT_OK to the first kill; HAFT_DEAD, if it is dead already; or what
 *           haft_packed_diagnose() says.
 */
haft_status haft_packed_kill(haft_packed *packed, haft_id id);

/*
 * haft_packed_refresh - destroy all dead objects, in the order of their kills, then close all gaps.
 * (Where a dead object has been freed, the one killed last has taken its turn.)  Objects that
 * on_destroy kills meanwhile are destroyed as well, and those it inserts are kept.  Objects move at
 * most once.
 *
 * With keep_order pointers to the first dead object and to all behind it end; without, all pointers
 * to dead objects and to the last ones, as many as were dead.
 *
 * Returns   HAFT_OK; HAFT_IN_CALLBACK.
 * Progress  wait-free except for on_destroy.
 * Cost      O(dead); with keep_order O(dead + objects behind the first of them).
 */
haft_status haft_packed_refresh(haft_packed *packed);

/*
 * haft_packed_clear - kill all objects in order of position, then destroy all dead ones in the
 * order of the kills, and those that on_destroy inserts meanwhile.  All earlier ids are stale for
 * ever, and all pointers end.
 *
 * Returns   HAFT_OK; HAFT_IN_CALLBACK.
 * Progress  wait-free except for on_destroy.
 * Cost      O(count).
 */
haft_status haft_packed_clear(haft_packed *packed);

/*
 * haft_packed_sort, haft_packed_sort_n - bring the objects, dead ones among them, or the first `n`
 * of them (or all), into the order of `compare`, which is negative, zero or positive as strcmp()
 * is.  Stable: equal objects keep their order.  Ids stay as they are; pointers to objects that are
 * sorted end.  Objects stand still until the last comparison; whatever `compare` answers, none is
 * lost.  What it inserts stays behind the sorted ones.
 *
 * Returns   HAFT_OK; HAFT_NO_MEMORY; HAFT_IN_CALLBACK.
 * Progress  wait-free except for `compare`.
 * Cost      O(n log n) comparisons, n - 1 where nothing is out of order; each object moves at most
 *           once.  8 bytes of memory for each object from the first sort on.
 */
haft_status haft_packed_sort(haft_packed *packed,
                             int (*compare)(const void *a, const void *b, void *arg), void *arg);
haft_status haft_packed_sort_n(haft_packed *packed, uint64_t n,
                               int (*compare)(const void *a, const void *b, void *arg), void *arg);

/*
 * haft_packed_sort_as - bring the objects into the order of a list of `count` ids: first those that
 * it names, dead or not, then all others, in the order that they have.  Ids in the list that are
 * not live here, and repetitions, count for nothing.  Ids stay as they are, and all pointers end.
 * The list may be haft_packed_ids() of a clone, or made from another table's objects.
 *
 * Returns   as haft_packed_sort().
 * Cost      O(objects + count); each object moves at most once.  Memory as haft_packed_sort().
 */
haft_status haft_packed_sort_as(haft_packed *packed, const haft_id *ids, uint64_t count);

/*
 * haft_packed_swap - two objects, dead or not, change places.  Their ids stay as they are, and
 * pointers to them end.
 *
 * Returns   HAFT_OK; HAFT_IN_CALLBACK; or what haft_packed_diagnose() says of the first id that is
 *           not live.
 * Cost      O(1), and the copy.
 */
haft_status haft_packed_swap(haft_packed *packed, haft_id a, haft_id b);

/*
 * haft_packed_explain, haft_packed_diagnose_format - as haft_local_explain() and
 * haft_local_diagnose_format().  Of a killed object the status is HAFT_DEAD, and the site that of
 * the kill.
 *
 * Progress  wait-free; haft_packed_diagnose_format with `sites` blocking (dladdr).
 */
int haft_packed_explain(const haft_packed *packed, haft_status status, char *text, size_t size);
int haft_packed_diagnose_format(const haft_packed *packed, haft_id id, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_PACKED_H */

/*
 * haft_kit.h - haft 0.2.0: the kit, over haft.h
 *
 * Copyright (c) 2026 The haft authors.  SPDX-License-Identifier: MIT
 * Made of haft's sources by ./dev amalgamate; changes belong there.
 *
 * The kit is this file and haft_kit.c, which includes haft.c: compile that in its place.  C++17 programs
 * may take haft_kit.hpp instead.  What haft.h says of all its sections holds here too.
 *
 *   what there is
 *     haft/kit/status.h      37  what functions of the kit answer beside what those of the core do
 *     haft/kit/packed.h      71  the handle table of one thread that keeps its objects dense: no
 *                                holes
 *     haft/kit/arena.h      413  memory that is freed all at once: a frame's, a request's, a job's
 *     haft/kit/snapshot.h   675  the whole state of a haft_local or haft_packed: kept and gone back
 *                                to, copied, saved and loaded
 *     haft/kit/restore.h    890  ids of a haft_local that are chosen elsewhere: those of a saved
 *                                game, or that a server assigns
 *     haft/kit/side.h       976  side tables: values of another type under the ids of a table
 *     haft/kit/commands.h  1218  creations and destructions recorded by jobs, carried out at the
 *                                frame boundary
 *     haft/kit/typed.h     1592  more for one C type, as haft/typed.h
 *     haft/kit/export.h    1634  statistics of all open tables in a file, for haft-top and other
 *                                programs
 */
#ifndef HAFT_HAFT_KIT_H
#define HAFT_HAFT_KIT_H

#include "haft.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * haft/kit/status.h - what functions of the kit answer beside what those of the core do.
 *
 * They are values of haft_status.  haft_status_text() and haft_status_name() know them from the
 * first one on that the kit has answered.
 */

/* The object has been killed before; its id is live until the refresh. */
#define HAFT_DEAD HAFT_KIT_100
/* The system did not take the file. */
#define HAFT_NO_FILE HAFT_KIT_101
/* A recorder has created as many objects as it was opened for. */
#define HAFT_USED_UP HAFT_KIT_102
/* Another recorder of the frame has the key. */
#define HAFT_SAME_KEY HAFT_KIT_103
/* The slot holds an object or a reservation; or the id has a value. */
#define HAFT_OCCUPIED HAFT_KIT_104
/* The file is no saved table, is cut off or has been changed. */
#define HAFT_DAMAGED HAFT_KIT_105
/* The state of a table that was opened with other options, or a file of another version or with
 * objects of another size. */
#define HAFT_OTHER_TABLE HAFT_KIT_106

/* Options out of range: nothing was opened. */
#define HAFT_BAD_BLOCK_SIZE HAFT_KIT_107
#define HAFT_BAD_MAX_BLOCK_SIZE HAFT_KIT_108
#define HAFT_BAD_BUFFER_SIZE HAFT_KIT_109
#define HAFT_BAD_DIRECTORY HAFT_KIT_110
#define HAFT_BAD_INTERVAL_MS HAFT_KIT_111
#define HAFT_BAD_VALUE_SIZE HAFT_KIT_112
#define HAFT_BAD_VALUE_ALIGNMENT HAFT_KIT_113
#define HAFT_BAD_ON_END HAFT_KIT_114
#define HAFT_BAD_KEEP HAFT_KIT_115

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

/*
 * haft/kit/arena.h - memory that is freed all at once: a frame's, a request's, a job's.
 *
 *   haft_arena *arena;
 *   haft_arena_open(&(haft_arena_options){.block_size = 65536}, &arena);
 *   for (;;) {
 *       char *path = haft_arena_printf(arena, "%s/%s", directory, name);
 *       struct node *node = haft_arena_new(arena, struct node);
 *       ...
 *       haft_arena_reset(arena);
 *   }
 *
 * Allocation moves one pointer up.  Blocks of memory come from malloc or the option `allocator`;
 * with `fixed` there is only one, which may be a buffer of the caller's.  Reset keeps them for the
 * next round.
 *
 * No destructors run.  An object's resources outside of the arena leak when the arena is reset,
 * rewound or closed: file descriptors, locks, memory of malloc's.  Register what must be done with
 * haft_arena_on_reset().
 *
 * In builds with AddressSanitizer all bytes that are not allocated are poisoned, and there are
 * poisoned bytes behind each allocation: a pointer kept beyond a reset or rewind is reported.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   one at a time for each arena.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

/* What haft_arena_alloc() aligns to: enough for every basic type. */
#define HAFT_ARENA_ALIGNMENT HAFT_CAST(size_t, 16)

/* The largest alignment, a huge page. */
#define HAFT_ARENA_MAX_ALIGNMENT (HAFT_CAST(size_t, 1) << 21)

/* Bytes of a caller's buffer that the arena itself needs, at most. */
#define HAFT_ARENA_OVERHEAD HAFT_CAST(size_t, 256)

/* Only what the inline allocation needs; there is more behind it. */
typedef struct haft_arena {
    char *next;  /* the first byte not allocated in the block in use */
    char *limit; /* where the inline allocation must stop */
} haft_arena;

typedef struct haft_arena_options {
    size_t block_size;     /* bytes of the first block, up to 2^30; 0: 65,536 */
    size_t max_block_size; /* each further block has twice the bytes of the one before, up to
                              this; from block_size to 2^30; 0: 2^20, or block_size if larger */
    bool fixed;            /* never a second block */
    void *buffer;          /* the first block, with the arena itself in it, until it is closed;
                              NULL: from the allocator.  With `fixed`, nothing but the buffer is
                              ever used.  Without, block_size is that of the second block */
    size_t buffer_size;    /* its bytes, at least HAFT_ARENA_OVERHEAD; 0 without a buffer */
    const haft_allocator *allocator; /* of blocks; copied; NULL: malloc */
} haft_arena_options;

typedef struct haft_arena_stats {
    size_t used;       /* bytes allocated, with what alignment (and the sanitizer) adds */
    size_t high_water; /* the most that was ever used at once */
    size_t capacity;   /* bytes of all blocks, those kept for later among them */
} haft_arena_stats;

/* A point in the life of an arena, to rewind to. */
typedef struct haft_mark {
    void *block;
    char *next;
    void *own_blocks;
    void *clean_up;
    size_t elsewhere;
    uint64_t round;
} haft_mark;

/*
 * haft_arena_open, haft_arena_open_sized - a new arena, empty, with its first block.  `options`
 * NULL: all zero.
 *
 * Returns   HAFT_OK and the arena in `*arena`; HAFT_UNKNOWN_OPTION, or HAFT_BAD_ and the name of
 *           the option; HAFT_NO_MEMORY.
 * Progress  blocking (malloc); wait-free in a buffer.
 */
haft_status haft_arena_open_sized(const haft_arena_options *options, size_t size,
                                  haft_arena **arena);
HAFT_INLINE haft_status haft_arena_open(const haft_arena_options *options, haft_arena **arena)
{
    return haft_arena_open_sized(options, sizeof *options, arena);
}

/*
 * haft_arena_close - the end of the arena and of all that was allocated in it.  Clean-up runs as in
 * haft_arena_reset().
 *
 * Threads   one; not from a clean-up function.
 * Progress  blocking (free).
 * Cost      O(blocks), and the clean-up.
 */
void haft_arena_close(haft_arena *arena);

/* Not for programs: what haft_arena_alloc_aligned() calls when the block in use has no room. */
void *haft_arena_alloc_further(haft_arena *arena, size_t size, size_t alignment);

/*
 * haft_arena_alloc_aligned, haft_arena_alloc - `size` bytes at a multiple of `alignment`, or of
 * HAFT_ARENA_ALIGNMENT; contents undefined.  Size 0 takes one byte.
 *
 * What does not fit into the block in use goes to the next one, and the rest of the former lies
 * idle until a reset or rewind.  A size that would not fit there either gets a block of just that
 * size, and the block in use stays in use.  Blocks so made and kept are freed as they become too
 * small.
 *
 * Returns   the bytes.  NULL, and nothing has changed, if there is no memory or no room, or
 *           `alignment` is not a power of two up to HAFT_ARENA_MAX_ALIGNMENT.
 * Progress  wait-free while the block has room; else blocking (malloc).
 * Cost      O(1), inlined while the block has room; for a block of just that size O(such blocks
 *           kept).
 */
HAFT_INLINE void *haft_arena_alloc_aligned(haft_arena *arena, size_t size, size_t alignment)
{
    const size_t padding = -HAFT_BITS(uintptr_t, arena->next) & (alignment - 1);
    const size_t room = HAFT_CAST(size_t, arena->limit - arena->next);

    /* Size 0 is one of the cases for the function: size - 1 is larger than any room. */
    if ((alignment & (alignment - 1)) == 0 && alignment <= HAFT_ARENA_MAX_ALIGNMENT &&
        padding < room && size - 1 < room - padding) {
        char *memory = arena->next + padding;

        arena->next = memory + size;
        return memory;
    }
    return haft_arena_alloc_further(arena, size, alignment);
}

HAFT_INLINE void *haft_arena_alloc(haft_arena *arena, size_t size)
{
    return haft_arena_alloc_aligned(arena, size, HAFT_ARENA_ALIGNMENT);
}

/*
 * haft_arena_alloc_array, haft_arena_alloc_zeroed - `count` times `size` bytes, aligned to
 * HAFT_ARENA_ALIGNMENT; contents undefined, or zeros.  A product larger than a size_t gets NULL.
 *
 * Progress  as haft_arena_alloc().
 * Cost      as haft_arena_alloc(), and the zeros.
 */
void *haft_arena_alloc_array(haft_arena *arena, size_t count, size_t size);
void *haft_arena_alloc_zeroed(haft_arena *arena, size_t count, size_t size);

/* Room for one object of a type, or for `count` of them, as a pointer to it; NULL as above. */
#define haft_arena_new(arena, type)                                                                \
    ((type *)haft_arena_alloc_aligned(arena, sizeof(type), HAFT_ALIGNOF(type)))
#define haft_arena_new_array(arena, type, count)                                                   \
    ((type *)haft_arena_resize_array(arena, NULL, 0, count, sizeof(type), HAFT_ALIGNOF(type)))

/*
 * haft_arena_resize - another size for an allocation.  The last one grows and shrinks in place
 * while the block has room; bytes shrunk off are free again, unless a mark was set behind them.
 * Any other shrinks in place, which frees nothing, and grows by moving.  Arguments are those of a
 * haft_allocator's resize.
 *
 * Returns   the allocation, its first min(old_size, new_size) bytes kept.  NULL as
 *           haft_arena_alloc_aligned(); the allocation is as it was then.
 * Progress  as haft_arena_alloc().
 * Cost      O(1) in place; else as haft_arena_alloc() and the copy.
 */
void *haft_arena_resize(haft_arena *arena, void *memory, size_t old_size, size_t new_size,
                        size_t alignment);

/*
 * haft_arena_resize_array - haft_arena_resize() from `old_count` to `new_count` times `size`.  A
 * product larger than a size_t gets NULL.
 *
 * Progress  as haft_arena_alloc().
 * Cost      as haft_arena_resize().
 */
void *haft_arena_resize_array(haft_arena *arena, void *memory, size_t old_count, size_t new_count,
                              size_t size, size_t alignment);

/*
 * haft_arena_copy, haft_arena_strdup, haft_arena_strndup - a copy in the arena, or NULL: of `size`
 * bytes, aligned to HAFT_ARENA_ALIGNMENT; of a string; of at most the first `most` bytes of a
 * string, with a zero behind them.  `bytes` may be NULL if `size` is 0.
 *
 * Progress  as haft_arena_alloc().
 * Cost      as haft_arena_alloc(), and the copy.
 */
void *haft_arena_copy(haft_arena *arena, const void *bytes, size_t size);
char *haft_arena_strdup(haft_arena *arena, const char *text);
char *haft_arena_strndup(haft_arena *arena, const char *text, size_t most);

/*
 * haft_arena_printf, haft_arena_vprintf - a formatted string in the arena, or NULL, also if printf
 * refuses the format or an argument.  Arguments may lie in the arena themselves.
 *
 * Progress  as haft_arena_alloc().
 * Cost      formatting; twice only if the block in use has no room.
 */
char *haft_arena_printf(haft_arena *arena, const char *format, ...) HAFT_PRINTF(2, 3);
char *haft_arena_vprintf(haft_arena *arena, const char *format, va_list arguments)
    HAFT_PRINTF(2, 0);

/*
 * haft_arena_mark - this moment, for haft_arena_rewind(): good until the arena is reset, closed or
 * rewound to an earlier mark.  Marks nest, and need not be used.
 */
haft_mark haft_arena_mark(haft_arena *arena);

/*
 * haft_arena_rewind - free all that was allocated since the mark, after the clean-up registered
 * since then.  An earlier allocation that has grown since has its old place and size again.  The
 * mark may be used again.
 *
 * Threads   one; not from a clean-up function.
 * Progress  wait-free except for the clean-up.
 * Cost      O(1 + blocks of one allocation each that are freed), and the clean-up.
 */
void haft_arena_rewind(haft_arena *arena, haft_mark mark);

/*
 * haft_arena_reset - free all allocations, after the clean-up.  All blocks are kept, and used again
 * in the same order.
 *
 * Threads   one; not from a clean-up function.
 * Progress  wait-free except for the clean-up.
 * Cost      O(1), and the clean-up; with AddressSanitizer O(bytes).
 */
void haft_arena_reset(haft_arena *arena);

/*
 * haft_arena_on_reset - call `clean_up(arg)` (NULL: nothing) once, when the arena is reset, closed,
 * or rewound to a mark set before this call.  The function registered last runs first, while all
 * earlier allocations are there.  It may allocate and register; it may not reset, rewind or close
 * this arena.
 *
 * Returns   HAFT_OK, or HAFT_NO_MEMORY: no room for the note, which lies in the arena.
 * Progress  as haft_arena_alloc().
 * Cost      as haft_arena_alloc() of three pointers.
 */
haft_status haft_arena_on_reset(haft_arena *arena, void (*clean_up)(void *arg), void *arg);

/*
 * haft_arena_trim - free all empty blocks except the first, the one in use and those before it.
 *
 * Progress  blocking (free).
 * Cost      O(blocks freed).
 */
void haft_arena_trim(haft_arena *arena);

/* haft_arena_stats_get - bytes in use, the most ever in use, and those of all blocks. */
haft_arena_stats haft_arena_stats_get(const haft_arena *arena);

/*
 * haft_arena_allocator - the arena as a haft_allocator, until it is closed.  Its resize is
 * haft_arena_resize(); its free frees the last allocation, unless a mark was set behind it, while
 * any other waits for a reset or rewind.
 *
 * Progress  wait-free; its functions as haft_arena_alloc().
 */
haft_allocator haft_arena_allocator(haft_arena *arena);

/*
 * haft/kit/snapshot.h - the whole state of a haft_local or haft_packed: kept and gone back to,
 * copied, saved and loaded.
 *
 *   haft_local_snapshot(), _rewind()   states of the last frames, in memory: rollback, undo
 *   haft_local_clone()                 a second table
 *   haft_local_save(), _load()         a file: recordings that replay exactly
 *
 * All of them take everything along that decides what the table does next: the same calls then give
 * the same ids, statuses and callbacks again, in the same order.  (haft_local_for_each_slot() and
 * loading by haft_local_restore() keep ids, but not the order in which slots are used.)
 *
 * No callback of the table runs: objects are bytes, which are copied and overwritten.  What objects
 * own is not copied with them, and objects that a rewind or a load replaces go without on_destroy.
 * Data that on_destroy changes outside the table is no part of the state: it runs again for objects
 * that are freed again.
 *
 * Sides of a haft_local (haft/kit/side.h).  A side without on_end is part of each snapshot: a
 * rewind makes its values what they were then, and ends all in a side that was opened later.
 * Values of a side with on_end are no part of the state: a rewind ends them all first.  A load ends
 * the values of all sides.  A clone has no sides, a file no values.
 *
 * Ids.  After a rewind or a load the table issues the same ids again.  An id that was issued later
 * than the snapshot, and is kept outside the state that goes back with it, may name another object
 * from then on, and no check can find it out: keep such ids in objects of the table, or where the
 * program rewinds them along with it.  A clone issues the same ids as the table that it is of.
 *
 * The first generation belongs to the state, and of a haft_local the capacity and min_free: a table
 * takes them over from the state that it goes to.  The number of a haft_local's slots, which is a
 * power of two, must be the same.
 *
 * Views, and pointers to the table's slots, stay valid.  Allocation sites (haft/diagnose.h) of all
 * slots are forgotten.
 *
 * Memory.  A history's newest snapshot is as large as all slots ever used, those that a trim has
 * released included; an older one is as large as the blocks that differ from the next.  Each also
 * has a whole copy of the sides without on_end, up to the highest entry that was ever set.
 * A table that goes to a state with fewer slots keeps its pages: haft_local_stats counts the slots
 * that the state has, and haft_local_trim() releases the others only once they were used again.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   one at a time for each table and each history.
 * Ordering  none.
 * Progress  blocking (mmap, malloc).
 * Cost      O(slots ever used), and object bytes; snapshots and rewinds also the bytes of sides.
 */

/* --- snapshots --- */

/*
 * A history keeps the last snapshots of one table, numbered from 0 on: the newest as a copy, and of
 * the others what differs from one to the next, in blocks of 64 bytes.  A snapshot compares the
 * table with the copy.  With `keep` 1 it is a plain copy instead, which is faster: for a program
 * that goes back to one state alone, or where most objects change between two snapshots.
 */
typedef struct haft_history haft_history;

typedef struct haft_history_options {
    uint64_t keep;                          /* snapshots, at most; at least 1 */
    const struct haft_allocator *allocator; /* see haft/memory.h; copied; NULL: malloc */
} haft_history_options;

/*
 * haft_history_open, haft_history_open_sized - a history of at most `keep` snapshots.
 *
 * Returns   HAFT_OK and the history in `*history`; HAFT_BAD_KEEP, HAFT_UNKNOWN_OPTION,
 *           HAFT_NO_MEMORY.
 * Cost      O(keep).
 */
haft_status haft_history_open_sized(const haft_history_options *options, size_t size,
                                    haft_history **history);
HAFT_INLINE haft_status haft_history_open(const haft_history_options *options,
                                          haft_history **history)
{
    return haft_history_open_sized(options, sizeof *options, history);
}

/*
 * haft_history_close - the end of the history, before or after that of its table.
 *
 * Cost      O(keep), and the system's.
 */
void haft_history_close(haft_history *history);

/*
 * haft_history_kept - the numbers of the snapshots that can be gone to: `from` the oldest, `to` one
 * more than the newest.
 * haft_history_bytes - the memory that they take.
 *
 * Progress  wait-free.
 * Cost      O(1); haft_history_bytes O(keep).
 */
haft_range haft_history_kept(const haft_history *history);
uint64_t haft_history_bytes(const haft_history *history);

/*
 * haft_local_snapshot, haft_packed_snapshot - keep the table's state.  The snapshot's number is one
 * more than that of the snapshot taken or gone to last; those with higher numbers are dropped, and
 * the oldest, if there were `keep`.
 *
 * Returns   HAFT_OK, and the number in `*number` (NULL may be passed); or
 *             HAFT_IN_USE        objects are reserved, or a callback of the table runs
 *             HAFT_LOADING       before haft_local_load_end()
 *             HAFT_OTHER_TABLE   the history is of a table that was opened with other options;
 *                                those that may differ for haft_local_load() may differ here
 *             HAFT_NO_MEMORY
 */
haft_status haft_local_snapshot(const haft_local *local, haft_history *history, uint64_t *number);
haft_status haft_packed_snapshot(const haft_packed *packed, haft_history *history,
                                 uint64_t *number);

/*
 * haft_local_rewind, haft_packed_rewind - make the table what it was at the snapshot of that
 * number, an earlier one or a later one.  A frame that began with that snapshot is played again
 * without another.
 *
 * Returns   HAFT_OK.  Otherwise nothing has changed, except that values of sides have ended if an
 *           on_end is the reason (by a snapshot, a reservation or an insertion):
 *             HAFT_OUT_OF_RANGE   haft_history_kept() has no such number
 *             HAFT_IN_USE, HAFT_NO_MEMORY, HAFT_LOADING, HAFT_OTHER_TABLE   as
 *                                 haft_local_snapshot()
 * Cost      as a snapshot, and the blocks that differ on the way there.
 */
haft_status haft_local_rewind(haft_local *local, haft_history *history, uint64_t number);
haft_status haft_packed_rewind(haft_packed *packed, haft_history *history, uint64_t number);

/* --- copies --- */

/*
 * haft_local_clone, haft_packed_clone - a table with the same options, callbacks included, the same
 * objects and the same state, in memory of the table's allocator and of the system.  Where objects
 * own something, give the clone its own before one of them is freed: until then
 * haft_local_set_destroy() can keep on_destroy from it.
 *
 * Returns   HAFT_OK and the table in `*clone`; HAFT_IN_USE, HAFT_LOADING, HAFT_NO_MEMORY, as
 *           haft_local_snapshot().
 */
haft_status haft_local_clone(const haft_local *local, haft_local **clone);
haft_status haft_packed_clone(const haft_packed *packed, haft_packed **clone);

/* --- files --- */

/*
 * haft_write, haft_read - `size` bytes go to the file or come from it, all of them: as by fwrite()
 * and fread() with a FILE for `arg`, or memcpy().  False: not all of them; the call ends.
 * haft_convert - an object's bytes in memory, `from`, become those in the file, `to`; for loading
 * the other way round.  For pointers, other byte orders, other versions of a struct; the table's
 * object_size is that of saving, so a struct that is to grow has room from the start.
 *
 * They may call the table's functions that change nothing, and no other.
 */
typedef bool haft_write(const void *bytes, size_t size, void *arg);
typedef bool haft_read(void *bytes, size_t size, void *arg);
typedef void haft_convert(void *to, const void *from, void *arg);

/*
 * A file may stand anywhere in a stream: reading ends with the file's last byte.  Numbers in it are
 * little-endian on every machine.  docs/design.md has its form.
 */
typedef struct haft_file {
    haft_write *write; /* for saving */
    haft_read *read;   /* for loading */
    void *arg;

    haft_convert *convert; /* NULL: objects are saved and loaded as they are */
    void *convert_arg;
    size_t converted_size; /* bytes that an object has in the file; with `convert` alone */

    uint64_t reserved[2]; /* 0; for options of a later version */

    /* After HAFT_DAMAGED, HAFT_OTHER_TABLE and HAFT_NO_FILE: how many bytes from the file's start
     * on are right, and in words what comes next or is wrong with it. */
    uint64_t offset;
    const char *what;
} haft_file;

/*
 * haft_local_save, haft_packed_save - write the table's state to a file.
 *
 * Returns   HAFT_OK.  Otherwise the file is incomplete:
 *             HAFT_IN_USE, HAFT_LOADING   as haft_local_snapshot(); nothing has been written
 *             HAFT_UNKNOWN_OPTION         `reserved` is not 0
 *             HAFT_NO_MEMORY              for a block of the file, or for an object to be converted
 *             HAFT_NO_FILE                `write` returned false
 * Progress  wait-free except for `write` and `convert` (malloc).
 */
haft_status haft_local_save(const haft_local *local, haft_file *file);
haft_status haft_packed_save(const haft_packed *packed, haft_file *file);

/*
 * haft_local_load, haft_packed_load - make the table what the saved one was, its first generation
 * included.  It must have been opened with the same options; name, callbacks, allocator, sites and
 * huge_pages may differ, and the options that the top of this file names; will_share may where it
 * adds no slots.  Memory that a trim can release (not given, more than 128 KiB of slots) must be on
 * both sides or on neither.
 *
 * Everything is read and checked before the table is touched, so that no file makes a table that is
 * unsound.
 *
 * Returns   HAFT_OK.  Otherwise nothing in the table has changed, except that values of sides have
 *           ended if an on_end is the reason:
 *             HAFT_DAMAGED                it is no such file, is cut off or has been changed
 *             HAFT_OTHER_TABLE            the saved table was opened with other options, or the
 *                                         file has another version or objects of another size
 *             HAFT_IN_USE, HAFT_LOADING   as haft_local_snapshot(), and nothing has been read; or
 *                                         HAFT_IN_USE, an on_end has reserved a slot
 *             HAFT_UNKNOWN_OPTION         `reserved` is not 0
 *             HAFT_NO_MEMORY              for all of it a second time, while it is checked
 */
haft_status haft_local_load(haft_local *local, haft_file *file);
haft_status haft_packed_load(haft_packed *packed, haft_file *file);

/*
 * haft/kit/restore.h - ids of a haft_local that are chosen elsewhere: those of a saved game, or
 * that a server assigns.
 *
 * An on_destroy may call these functions too, but haft_local_load_begin() and _end().  While the
 * table closes, restoring answers HAFT_FULL.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   one at a time for each table.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

/*
 * haft_local_restore - an object under an id of the caller's choice, as haft_local_insert() would
 * have made it.  When it is freed, its slot goes on with the next generation.  Slots below it that
 * were never used become free, to be reused before all others, the lowest first (with min_free,
 * once that many are free).
 *
 * Returns   HAFT_OK; or
 *             HAFT_NO_ID, HAFT_MALFORMED (also generation 0), HAFT_FOREIGN   as the id is
 *             HAFT_OUT_OF_RANGE   the index is beyond the capacity (and min_free)
 *             HAFT_OCCUPIED       the slot holds an object or a reservation
 *             HAFT_EXHAUSTED      the slot has lived all its generations
 *             HAFT_STALE          the slot's next generation is higher: stale ids would live again
 *                                 (not of a slot never used, with `wrap`)
 *             HAFT_FULL           haft_local_available() is 0
 *             HAFT_NO_MEMORY      the system refused memory (strict overcommit)
 * Progress  wait-free except for the system.
 * Cost      between haft_local_load_begin() and _end(): O(1).  Else O(free slots), and above the
 *           highest index used so far O(slots between), whose memory is touched.
 */
haft_status haft_local_restore(haft_local *local, haft_id id, const void *object);

/*
 * haft_local_reserve_at - the slot of an id of the caller's choice, as haft_local_restore() takes
 * it, for an object that is built in place: then haft_local_publish() or haft_local_abort().
 *
 * Returns   as haft_local_restore(), and the object's bytes, contents undefined, in `*object` (NULL
 *           may be passed).
 * Progress  wait-free except for the system.
 * Cost      as haft_local_restore().
 */
haft_status haft_local_reserve_at(haft_local *local, haft_id id, void **object);

/*
 * haft_local_restore_free - a free slot will go on with the id `next`; those before it are stale.
 * With generation 0 in `next`, the slot is exhausted.  The slot counts as freed just now.
 *
 * Returns   as haft_local_restore(), but generation 0 is not HAFT_MALFORMED, and HAFT_FULL is only
 *           for exhausted slots and while the table closes.
 * Progress  wait-free except for the system.
 * Cost      as haft_local_restore().
 */
haft_status haft_local_restore_free(haft_local *local, haft_id next);

/*
 * haft_local_for_each_slot - visit all that is to be saved, so that stale ids are stale after
 * loading.  Calls `visit` for each slot up to the highest one used, in order of index: for a live
 * one with its id and object, to be restored by haft_local_restore(); for others, reserved ones
 * too, with NULL and the id of the next life, for haft_local_restore_free(): if live objects alone
 * are loaded, stale ids come to life.  It may free objects; false ends the walk.
 *
 * Returns   the number of calls.
 * Progress  wait-free except for the visitor.
 * Cost      O(slots ever used).
 */
uint64_t haft_local_for_each_slot(haft_local *local,
                                  bool (*visit)(haft_id id, void *object, void *arg), void *arg);

/*
 * haft_local_load_begin, haft_local_load_end - restore many ids between these two, into a table
 * that is empty or not.  Meanwhile haft_local_reserve(), haft_local_insert(),
 * haft_local_reserve_capacity() and haft_local_trim() answer HAFT_LOADING.  At the end the free
 * slots are put in order: the lowest index is used first, but runs of pages without a used slot
 * come after the others, if there are more than 128 KiB of slots.
 *
 * Cost      O(1); load_end O(slots ever used).
 */
void haft_local_load_begin(haft_local *local);
void haft_local_load_end(haft_local *local);

/*
 * haft/kit/side.h - side tables: values of another type under the ids of a table.
 *
 * A side has an entry for each slot of its table: an id, and a value.  A value is found under the
 * id that it was set for, and under no other one, so a slot's next object does not inherit it.  The
 * table knows nothing of values: no call on it is longer, and a free ends none.
 *
 *   haft_side_open_local(ships, &(haft_side_options){.value_size = sizeof(struct hull)}, &side);
 *   haft_side_set(side, ship, &(struct hull){.strength = 12}, NULL);
 *   struct hull *hull = haft_side_get(haft_side_entries(side), ship);
 *
 * For a haft_local a side may have a destructor, and values are removed one by one.  The values of
 * a haft_table are plain bytes: none is removed, and each lasts until a value is set for a later
 * object of its slot, or the side closes.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   side of a haft_local: the table's thread.  Of a haft_table: any, registered or not.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 *
 * Edges in this file.
 *   SIDE   haft_side_set (release) -> haft_side_get (acquire)   value before id
 */

typedef struct haft_side haft_side;

/*
 * A reader of a shared table gets a value only if the calling thread
 *
 *   has resolved its id in the read section that it is in, or
 *   holds a pin of the object, or was handed one, or
 *   has reserved the id and neither published nor given it up, or was handed the reservation, or
 *   is in the on_reclaim of the id.
 *
 * Each of these keeps the slot from being used again, and so the value from being overwritten by
 * that of the slot's next object.  A section that began after the free does not: the entry may
 * still have the freed id, and its value may be overwritten while it is read.
 * "Holds the id" below means one of the four.  haft_side_find() resolves.
 */

/*
 * Runs once for each value that ends: when it is removed or swept, when one is set for a later
 * object of its slot, when the table is rewound or loaded (haft/kit/snapshot.h), and when the side
 * closes.  `id` is the one that it was set for; its object may have been freed long ago.
 *
 * It may call all functions of the table and its sides, but close neither; while the table is
 * rewound or loaded, not haft_local_load_begin().  One that always sets another value never ends.
 *
 * A value that ends inside an on_end of its side is found no more at once, and on_end runs for it
 * when that one has returned, before the outermost call does, in no promised order: a chain of any
 * length needs no stack.
 */
typedef void haft_side_end(void *value, haft_id id, void *arg);

typedef struct haft_side_options {
    size_t value_size;      /* bytes, up to 2^30; 0: only which ids have a value */
    size_t value_alignment; /* a power of two up to 4096; 0: as object_alignment */
    haft_side_end *on_end;  /* NULL: nothing; not for a haft_table */
    void *end_arg;
} haft_side_options;

/*
 * haft_side_open_local, haft_side_open_local_sized - a side of a local table.  `options` may be
 * NULL.  Until it is closed haft_share() answers HAFT_IN_USE, and the table may not be closed.
 *
 * Returns   HAFT_OK and the side in `*side`; or
 *             HAFT_UNKNOWN_OPTION, HAFT_BAD_VALUE_SIZE, HAFT_BAD_VALUE_ALIGNMENT   the option of
 *                                that name
 *             HAFT_BAD_WRAP      the table has `wrap`: ids repeat, and would bring values back
 *             HAFT_IN_CALLBACK   made from on_destroy while haft_local_close() runs
 *             HAFT_NO_MEMORY     no address space or memory
 * Progress  blocking (mmap, malloc).
 * Cost      O(1): address space for 8 bytes and the value for each slot that the table can have,
 *           touched when they are first set.
 */
haft_status haft_side_open_local_sized(haft_local *local, const haft_side_options *options,
                                       size_t size, haft_side **side);
HAFT_INLINE haft_status haft_side_open_local(haft_local *local, const haft_side_options *options,
                                             haft_side **side)
{
    return haft_side_open_local_sized(local, options, sizeof *options, side);
}

/*
 * haft_side_open, haft_side_open_sized - a side of a shared table.  Until it is closed
 * haft_unshare() and haft_table_close() answer HAFT_IN_USE, after on_reclaim has run for all freed
 * objects that are not pinned: it may read the values.
 *
 * Returns   as haft_side_open_local(), and
 *             HAFT_BAD_ON_END   on_end is set, but values here end without a call
 * Threads   any, alongside any call on the table but haft_table_close() and haft_unshare().  Hand
 *           `*side` over to others as any other pointer.
 * Progress  blocking (mmap, malloc, a lock held for moments).
 * Cost      as haft_side_open_local().
 */
haft_status haft_side_open_sized(haft_table *table, const haft_side_options *options, size_t size,
                                 haft_side **side);
HAFT_INLINE haft_status haft_side_open(haft_table *table, const haft_side_options *options,
                                       haft_side **side)
{
    return haft_side_open_sized(table, options, sizeof *options, side);
}

/*
 * haft_side_close - the end of a side and of all its values, in order of index.
 *
 * Threads   one, when no other thread uses the side any more; not from on_end.
 * Progress  blocking (munmap, free; of a shared table a lock held for moments).
 * Cost      O(memory touched), in the system; with on_end O(entries up to the highest one set).
 */
void haft_side_close(haft_side *side);

/* --- a value by its id --- */

/*
 * What looking up needs of a side; it stays valid and unchanged until the side is closed, so copy
 * it wherever values are looked up often.  Entry s lies at base + s * stride: first its atomic
 * word, then the value.  The word is the id that a value was set for, and no other word is ever
 * equal to an id that leads to its entry.
 */
typedef struct haft_entries {
    char *base;      /* entry 0's word */
    uint64_t mask;   /* that of the table's view */
    uint64_t stride; /* bytes from entry to entry */
} haft_entries;

/* HAFT_ENTRIES_EMPTY - an initialiser, as HAFT_VIEW_EMPTY: entries in which no id is found. */
#define HAFT_ENTRIES_EMPTY HAFT_VIEW_EMPTY

/* haft_side_entries - those of a side. */
haft_entries haft_side_entries(const haft_side *side);

/*
 * haft_side_get - the value that was set for an id, or NULL.
 *
 * Returns   pointer to the value's bytes, for any bits of `id`; NULL if none was set, or if it has
 *           ended.  A value of a freed object may be found until it ends.
 * Threads   side of a haft_local: the table's thread; the pointer may be used until the value ends.
 *           Of a haft_table: a thread that holds the id (see above), and as long as it does.
 *           Threads that write to one value must synchronise among themselves.
 * Ordering  acquire when non-NULL: all that was written before haft_side_set() is visible.  None
 *           when NULL.
 * Cost      that of haft_resolve().
 */
HAFT_INLINE void *haft_side_get(haft_entries entries, haft_id id)
{
    char *at = entries.base + (id.bits & entries.mask) * entries.stride;
    return haft_load_acquire(HAFT_EDGE_SIDE, HAFT_WORD(at)) == id.bits ? at + sizeof id : NULL;
}

/*
 * haft_side_find - resolve an id, and get its value.  `view` is the table's.
 *
 * Returns   the value, and what haft_resolve() gives in `*object` (NULL may be passed).  NULL if
 *           that is NULL, or if the id has no value.
 * Threads   as haft_resolve(), and then as haft_side_get(): the thread holds the id.
 * Ordering  as haft_resolve() and haft_side_get().
 * Cost      theirs.
 */
HAFT_INLINE void *haft_side_find(haft_entries entries, haft_view view, haft_id id, void **object)
{
    void *found = haft_resolve(view, id);

    if (object != NULL) {
        *object = found;
    }
    return found != NULL ? haft_side_get(entries, id) : NULL;
}

/*
 * haft_side_set - a value for an id, which has none: value_size bytes from `value` (NULL: zeros).
 * To change one, write to its place, or in a side of a local table end it by haft_side_remove().  A
 * value of an earlier object of the slot ends first, so `value` may not be that one.
 *
 * Returns   HAFT_OK, and the value's bytes in `*place` (NULL may be passed); or
 *             HAFT_OCCUPIED    the id has a value; its bytes are in `*place`
 *             HAFT_BUSY        another thread is setting one for this id; in a local table, on_end
 *                              of the entry's last value runs or is still to run
 *             HAFT_NO_ID, HAFT_MALFORMED, HAFT_FOREIGN, HAFT_OUT_OF_RANGE   as the id is
 *             HAFT_NEVER_ISSUED, HAFT_STALE, HAFT_EXHAUSTED   local table: as
 *                              haft_local_diagnose(); a reserved id may have a value.  Also if
 *                              on_end of the last value has freed the object
 *             HAFT_NO_MEMORY   the system refused memory (strict overcommit)
 * Threads   of a haft_table: a thread that holds the id (see above), which may be freed meanwhile.
 * Ordering  of a haft_table: acquire on HAFT_OCCUPIED, as haft_side_get(); release on HAFT_OK.
 * Progress  wait-free, except for on_end; lock-free where the entry is beyond all that were set.
 * Cost      O(1) and the copy.  Of a haft_table: a compare-and-swap.
 */
haft_status haft_side_set(haft_side *side, haft_id id, const void *value, void **place);

/*
 * haft_side_for_each - call `visit` for each live object that has a value, in order of index, until
 * it returns false.  What is set or removed meanwhile may or may not be visited.
 *
 * Returns   the number of calls.
 * Threads   of a haft_table: any thread inside a read section, until it returns.
 * Ordering  as haft_side_find(), for each id.
 * Progress  wait-free except for the visitor.
 * Cost      O(entries up to the highest one set).
 */
uint64_t haft_side_for_each(haft_side *side,
                            bool (*visit)(haft_id id, void *object, void *value, void *arg),
                            void *arg);

/* --- of a haft_local alone --- */

/*
 * haft_side_remove - end the value of an id, whose object may live or have been freed: as in
 * on_destroy, where values shall end with their objects.
 *
 * Returns   whether there was one.  Always false for a haft_table, whose readers may still look at
 *           the value: debug builds assert.
 * Progress  wait-free except for on_end.
 */
bool haft_side_remove(haft_side *side, haft_id id);

/*
 * haft_side_sweep - end the values of all objects that have been freed.
 *
 * Returns   how many.
 * Progress  wait-free except for on_end.
 * Cost      O(entries up to the highest one set).
 */
uint64_t haft_side_sweep(haft_side *side);

/*
 * Memory: pages of entries stay until the side is closed; haft_local_trim() and haft_trim() leave
 * sides alone.  So do haft_local_clear() and restoring ids one by one (haft_local_restore), which
 * issue no id twice.  In haft_local_load(), where ids are issued again, values end before.
 *
 * Snapshots of a haft_local (haft/kit/snapshot.h) have the values of its sides without on_end, and
 * a rewind brings these back, at the same places.  Where values shall end in a rewind instead, as
 * those that a program computes again, the side has an on_end, which may do nothing.
 *
 * In the child of a fork (haft/table.h) a value that another thread was setting is not there, and
 * setting it says HAFT_BUSY: the slot's next object can have one.
 */

/*
 * haft/kit/commands.h - creations and destructions recorded by jobs, carried out at the frame
 * boundary.
 *
 *   haft_commands_open(table, &options, &commands);             once
 *
 *   haft_recorder_open(commands, key, max_creates, &recorder);  each frame, for each job
 *     haft_recorder_create(recorder, &id, &object);             in the jobs, on any threads
 *     haft_recorder_call(recorder, function, &payload, size);
 *     haft_recorder_destroy(recorder, id);
 *   haft_commands_apply(commands, &applied);                    when all jobs have ended
 *   haft_domain_tick(domain);                                   frame clock
 *
 * Jobs see the table stand still: what they create cannot be resolved before it is applied, what
 * they destroy can be until then.  Each job has one recorder, so recording takes no lock and shares
 * nothing.  Memory is kept from frame to frame.
 *
 * Repeatable: one worker, which the command set owns, reserves the ids when recorders are opened
 * and frees what is destroyed; apply goes by the recorders' keys and, within one, by the order of
 * recording, on one thread.  So the same commands give the same ids and the same table however many
 * threads the jobs ran on and in whatever order, provided that
 *   - the table's domain has the frame clock,
 *   - recorders are opened with the same keys, in the same order, for as many creations,
 *   - nothing is created or destroyed but through the set, or through haft_commands_worker() on
 *     the set's thread,
 *   - no object is pinned while it is destroyed: the last unpin would decide when its slot is free.
 * Other clocks work as well, and then ids need not repeat.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   the set's thread.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

typedef struct haft_commands haft_commands; /* a command set, of one table */
typedef struct haft_recorder haft_recorder; /* one job's part in one frame */

/*
 * What haft_recorder_call() has apply call, on the set's thread, with the recorder it was recorded
 * with and the copy of the payload, which lasts until apply returns.  All creations of the frame
 * are live then, and nothing is destroyed yet.
 *
 * It may record with this recorder, and with no other: what it creates is live when it returns,
 * what it wants called is called in the same apply, after all other calls of the recorder, and what
 * it destroys is destroyed with the rest.  (So a call that always records another has no end.)  It
 * may reserve, insert and free at once by haft_commands_worker().  It may not open a recorder,
 * apply or close the set.
 */
typedef void haft_call(haft_recorder *recorder, void *payload);

typedef struct haft_commands_options {
    size_t block_size; /* bytes of memory that each recorder begins with, up to 2^30; 0: 4,096 */
    const haft_allocator *allocator; /* copied; called by all threads that record, at any time;
                                        NULL: malloc */
} haft_commands_options;

/* What one apply did. */
typedef struct haft_applied {
    uint64_t created;    /* those destroyed at once among them */
    uint64_t destroyed;  /* each object once */
    uint64_t duplicates; /* further destructions of an object in the same frame */
    uint64_t stale;      /* destructions of objects freed before, or of reservations given up */
    uint64_t refused;    /* destructions of what names nothing: nil, malformed, another table's
                            tag, never issued, reserved */
    uint64_t calls;
    uint64_t unused;      /* reservations given up */
    uint64_t reserved[9]; /* 0; for counts of a later version */
} haft_applied;

/*
 * haft_commands_open, haft_commands_open_sized - a command set for `table`, with a worker on it.
 * `options` NULL: all zero.
 *
 * Returns   HAFT_OK and the set in `*commands`; HAFT_UNKNOWN_OPTION, HAFT_BAD_BLOCK_SIZE,
 *           HAFT_NO_MEMORY; HAFT_CLOSED as haft_worker_open().
 * Threads   any: it becomes the set's thread, and haft_worker_open() holds for it: with qsbr and
 *           the workers clock it goes offline while it waits for jobs, or every grace period waits
 *           for it.  With the frame clock the set may be handed over; the worker is the other
 *           thread's from its first haft_recorder_open() or haft_commands_apply() on.
 * Ordering  as haft_worker_open().
 * Progress  blocking (malloc).
 * Cost      as haft_worker_open().
 */
haft_status haft_commands_open_sized(haft_table *table, const haft_commands_options *options,
                                     size_t size, haft_commands **commands);
HAFT_INLINE haft_status haft_commands_open(haft_table *table, const haft_commands_options *options,
                                           haft_commands **commands)
{
    return haft_commands_open_sized(table, options, sizeof *options, commands);
}

/*
 * haft_commands_close - the end of a command set.  Commands that were not applied are forgotten:
 * their ids are given up, calls are not made, nothing is destroyed.
 *
 * Threads   the set's thread, when no other uses the set or its recorders any more; not from a
 *           callback or a haft_call.
 * Ordering  as haft_worker_close().
 * Progress  blocking (free).
 * Cost      O(reservations given up + memory blocks).
 */
void haft_commands_close(haft_commands *commands);

/*
 * haft_commands_worker, haft_commands_table - the worker that the set owns, and its table.  The
 * set's thread may use the worker outside haft_recorder_open() and haft_commands_apply(), to fill
 * the table before the first frame for example, as repeatably as the rest; it is closed with the
 * set.
 */
haft_worker *haft_commands_worker(const haft_commands *commands);
haft_table *haft_commands_table(const haft_commands *commands);

/*
 * haft_recorder_open - a recorder for one job, until the next apply, and the ids of up to
 * `max_creates` objects that the job may create.  Ids go out in the order of these calls.  Keys may
 * be any numbers; apply goes from the lowest to the highest.
 *
 * Ids that are not used are given up at apply, which costs each such slot a generation and a grace
 * period.
 *
 * Returns   HAFT_OK and the recorder in `*recorder`; or
 *             HAFT_SAME_KEY   a recorder of this frame has the key
 *             HAFT_FULL, HAFT_BUSY, HAFT_CLOSED, HAFT_NO_MEMORY   as haft_reserve(), or no memory
 *                             for the recorder.  What could be reserved serves the next recorder of
 *                             this frame
 * Threads   the set's thread; others may record meanwhile.  Not from a callback or a haft_call.
 * Ordering  as haft_reserve().  The program's own synchronisation (starting the job) comes between
 *           this and the first recording.
 * Progress  lock-free, except for malloc when there are more recorders or reservations than ever
 *           before.
 * Cost      O(max_creates + log recorders) if keys come in ascending order; else O(recorders) more.
 */
haft_status haft_recorder_open(haft_commands *commands, uint64_t key, uint64_t max_creates,
                               haft_recorder **recorder);

/*
 * haft_recorder_create - record the creation of an object.  Its id may be used in other commands,
 * and stored, at once; until apply it is reserved.
 *
 * Returns   HAFT_OK, the id in `*id`, and in `*object` (NULL may be passed) the object's bytes,
 *           contents undefined, to be written until apply.  HAFT_USED_UP: the recorder was opened
 *           for no more.
 * Threads   one at a time for each recorder, from haft_recorder_open() until the program's own
 *           synchronisation (the job's end) before haft_commands_apply(); or a haft_call of this
 *           recorder.  Not from on_reclaim.
 * Ordering  none.  At apply: release, as haft_publish().
 */
haft_status haft_recorder_create(haft_recorder *recorder, haft_id *id, void **object);

/*
 * haft_recorder_destroy - record the destruction of an object: one that is live, or one created in
 * this frame by any recorder.  What the id names is looked at, and counted, at apply.
 *
 * Returns   HAFT_OK, or HAFT_NO_MEMORY.
 * Threads   as haft_recorder_create().
 * Progress  wait-free, except for malloc when more is recorded than ever before.
 */
haft_status haft_recorder_destroy(haft_recorder *recorder, haft_id id);

/*
 * haft_recorder_call - record that apply shall call `function` with a copy of `size` bytes at
 * `payload`, aligned to 16.  `payload` may be NULL if `size` is 0.
 *
 * Returns   HAFT_OK, or HAFT_NO_MEMORY.
 * Threads   as haft_recorder_create().
 * Progress  wait-free, except for malloc when more is recorded than ever before.
 * Cost      O(1), and the copy.
 */
haft_status haft_recorder_call(haft_recorder *recorder, haft_call *function, const void *payload,
                               size_t size);

/*
 * haft_recorder_commands, haft_recorder_key - what it was opened with.
 *
 * Threads   as haft_recorder_create().
 */
haft_commands *haft_recorder_commands(const haft_recorder *recorder);
uint64_t haft_recorder_key(const haft_recorder *recorder);

/*
 * haft_commands_apply - carry out all commands since the last apply: first all creations, then all
 * calls, then all destructions, each by key and order of recording.  All recorders end.  Then it
 * flushes the slots that it freed, so that one tick is enough to reuse them, and calls
 * haft_worker_quiescent() for the set's worker.
 *
 * Returns   HAFT_OK, and the counts in `*applied` (NULL may be passed); HAFT_IN_SECTION,
 *           HAFT_IN_CALLBACK (haft/domain.h).
 * Threads   the set's thread outside read sections, when the program's own synchronisation (the end
 *           of the jobs) has come after the last recording; not from a haft_call.  With qsbr and
 *           the workers clock it is a quiescent point.  Others may resolve meanwhile, if the clock
 *           is not the frame clock.
 * Ordering  as haft_publish() for creations and haft_free() for destructions.
 * Progress  as haft_worker_quiescent(), and the calls.  Allocates nothing.
 * Cost      O(commands + reservations + recorders), and the calls.
 */
haft_status haft_commands_apply(haft_commands *commands, haft_applied *applied);

/*
 * haft/kit/detail/typed_packed.h - haft_packed for one C type; haft/typed.h says what typed tables
 * are.
 */

/*
 * haft_packed_open_typed - haft_packed_open() with size and alignment of the type, for what is 0 in
 * `options`.
 *
 * Returns   as haft_packed_open() and haft_type_complete().
 * Threads   as haft_packed_open().
 * Progress  blocking (mmap, malloc).
 * Cost      as haft_packed_open().
 */
HAFT_ONLY_INLINE haft_status haft_packed_open_typed(haft_type type,
                                                    const haft_packed_options *options,
                                                    haft_packed **packed)
{
    haft_packed_options full;

    memset(&full, 0, sizeof full);
    if (options != NULL) {
        full = *options;
    }
    bool pins = false;
    const haft_status status =
        haft_type_complete(type, &full.object_size, &full.object_alignment, &pins);

    return status == HAFT_OK ? haft_packed_open(&full, packed) : status;
}

/*
 * haft_type_fits_packed - whether a packed table has objects of the type, by size and alignment.
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
haft_status haft_type_fits_packed(haft_type type, haft_dense_view view);

#ifdef __cplusplus
}
#endif

#define HAFT_TYPED_PACKED_FUNCTIONS(name)                                                          \
    struct name##_packed_comparer {                                                                \
        int (*compare)(const name##_object *a, const name##_object *b, void *arg);                 \
        void *arg;                                                                                 \
    };                                                                                             \
                                                                                                   \
    HAFT_TYPED_FUNCTION haft_dense_view name##_dense_view_untyped(name##_dense_view view)          \
    {                                                                                              \
        haft_dense_view untyped = {view.slot, view.mask,                                           \
                                   HAFT_CAST(char *, HAFT_CAST(void *, view.objects)),             \
                                   sizeof(name##_object)};                                         \
        return untyped;                                                                            \
    }                                                                                              \
    HAFT_TYPED_FUNCTION haft_status name##_packed_adopt(haft_packed *packed, name##_packed *typed) \
    {                                                                                              \
        const haft_dense_view view = haft_packed_view(packed);                                     \
        const haft_status status = haft_type_fits_packed(name##_type(), view);                     \
        if (status == HAFT_OK) {                                                                   \
            typed->packed = packed;                                                                \
            typed->view.slot = view.slot;                                                          \
            typed->view.mask = view.mask;                                                          \
            typed->view.objects = HAFT_CAST(name##_object *, HAFT_CAST(void *, view.objects));     \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    HAFT_TYPED_FUNCTION haft_status name##_packed_open(const haft_packed_options *options,         \
                                                       name##_packed *typed)                       \
    {                                                                                              \
        haft_packed *packed;                                                                       \
        const haft_status status = haft_packed_open_typed(name##_type(), options, &packed);        \
        return status == HAFT_OK ? name##_packed_adopt(packed, typed) : status;                    \
    }                                                                                              \
    HAFT_TYPED_DO(name##_packed_close, (name##_packed packed), haft_packed_close(packed.packed))   \
    HAFT_TYPED_CALL(                                                                               \
        name##_object *, name##_packed_resolve, (name##_dense_view view, name##_id id),            \
        HAFT_CAST(name##_object *, haft_packed_resolve(name##_dense_view_untyped(view), id.id)))   \
    HAFT_TYPED_CALL(bool, name##_packed_is_live, (name##_dense_view view, name##_id id),           \
                    haft_packed_is_live(name##_dense_view_untyped(view), id.id))                   \
    HAFT_TYPED_CALL(haft_status, name##_packed_diagnose, (name##_packed packed, name##_id id),     \
                    haft_packed_diagnose(packed.packed, id.id))                                    \
    HAFT_TYPED_CALL(haft_status, name##_packed_id_at,                                              \
                    (name##_packed packed, uint64_t index, name##_id * id),                        \
                    haft_packed_id_at(packed.packed, index, &id->id))                              \
    HAFT_TYPED_CALL(haft_packed_life, name##_packed_state, (name##_packed packed, name##_id id),   \
                    haft_packed_state(packed.packed, id.id))                                       \
    HAFT_TYPED_CALL(haft_status, name##_packed_position,                                           \
                    (name##_packed packed, name##_id id, uint64_t * position),                     \
                    haft_packed_position(packed.packed, id.id, position))                          \
    HAFT_TYPED_CALL(name##_object *, name##_packed_require, (name##_packed packed, name##_id id),  \
                    HAFT_CAST(name##_object *,                                                     \
                              haft_packed_require(packed.packed,                                   \
                                                  name##_dense_view_untyped(packed.view), id.id))) \
    HAFT_TYPED_CALL(name##_object *, name##_packed_objects, (name##_packed packed),                \
                    packed.view.objects)                                                           \
    HAFT_TYPED_CALL(                                                                               \
        const name##_id *, name##_packed_ids, (name##_packed packed),                              \
        HAFT_CAST(const name##_id *, HAFT_CAST(const void *, haft_packed_ids(packed.packed))))     \
    HAFT_TYPED_CALL(name##_id, name##_packed_id_in, (name##_packed packed, uint64_t position),     \
                    name##_id_of(haft_packed_id_in(packed.packed, position)))                      \
    HAFT_TYPED_CALL(haft_status, name##_packed_insert,                                             \
                    (name##_packed packed, const name##_object *object, name##_id *id),            \
                    haft_packed_insert(packed.packed, object, &id->id))                            \
    HAFT_TYPED_CALL(haft_status, name##_packed_free, (name##_packed packed, name##_id id),         \
                    haft_packed_free(packed.packed, id.id))                                        \
    HAFT_TYPED_CALL(haft_status, name##_packed_kill, (name##_packed packed, name##_id id),         \
                    haft_packed_kill(packed.packed, id.id))                                        \
    HAFT_TYPED_FUNCTION int name##_packed_compare_untyped(const void *a, const void *b, void *arg) \
    {                                                                                              \
        const struct name##_packed_comparer *comparer =                                            \
            HAFT_CAST(const struct name##_packed_comparer *, arg);                                 \
        return comparer->compare(HAFT_CAST(const name##_object *, a),                              \
                                 HAFT_CAST(const name##_object *, b), comparer->arg);              \
    }                                                                                              \
    HAFT_TYPED_FUNCTION haft_status name##_packed_sort_n(                                          \
        name##_packed packed, uint64_t n,                                                          \
        int (*compare)(const name##_object *a, const name##_object *b, void *arg), void *arg)      \
    {                                                                                              \
        struct name##_packed_comparer comparer = {compare, arg};                                   \
        return haft_packed_sort_n(packed.packed, n, name##_packed_compare_untyped, &comparer);     \
    }                                                                                              \
    HAFT_TYPED_FUNCTION haft_status name##_packed_sort(                                            \
        name##_packed packed,                                                                      \
        int (*compare)(const name##_object *a, const name##_object *b, void *arg), void *arg)      \
    {                                                                                              \
        return name##_packed_sort_n(packed, UINT64_MAX, compare, arg);                             \
    }                                                                                              \
    HAFT_TYPED_CALL(haft_status, name##_packed_sort_as,                                            \
                    (name##_packed packed, const name##_id *ids, uint64_t count),                  \
                    haft_packed_sort_as(packed.packed,                                             \
                                        HAFT_CAST(const haft_id *, HAFT_CAST(const void *, ids)),  \
                                        count))                                                    \
    HAFT_TYPED_CALL(haft_status, name##_packed_swap,                                               \
                    (name##_packed packed, name##_id a, name##_id b),                              \
                    haft_packed_swap(packed.packed, a.id, b.id))

/*
 * haft/kit/detail/typed_restore.h - ids chosen elsewhere for one C type; haft/kit/typed.h says what
 * there is.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   one at a time for each table.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

#define HAFT_TYPED_RESTORE_FUNCTIONS(name)                                                         \
    HAFT_TYPED_CALL(haft_status, name##_local_restore,                                             \
                    (name##_local local, name##_id id, const name##_object *object),               \
                    haft_local_restore(local.local, id.id, object))                                \
    HAFT_TYPED_FUNCTION haft_status name##_local_reserve_at(name##_local local, name##_id id,      \
                                                            name##_object **object)                \
    {                                                                                              \
        void *found = NULL;                                                                        \
        const haft_status status = haft_local_reserve_at(local.local, id.id, &found);              \
        if (status == HAFT_OK && object != NULL) {                                                 \
            *object = HAFT_CAST(name##_object *, found);                                           \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    HAFT_TYPED_CALL(haft_status, name##_local_restore_free, (name##_local local, name##_id next),  \
                    haft_local_restore_free(local.local, next.id))                                 \
    HAFT_TYPED_FUNCTION uint64_t name##_local_for_each_slot(name##_local local,                    \
                                                            name##_visit *visit, void *arg)        \
    {                                                                                              \
        struct name##_visitor visitor = {visit, arg};                                              \
        return haft_local_for_each_slot(local.local, name##_visit_untyped, &visitor);              \
    }

/*
 * haft/kit/typed.h - more for one C type, as haft/typed.h.
 *
 *   HAFT_TYPED_PACKED(ship);    ship_packed
 *   HAFT_TYPED_RESTORE(ship);   ship_local_restore(), ...
 */

/*
 * HAFT_TYPED_PACKED(name) - after HAFT_TYPED(name, type).
 *
 *   name_packed { packed, view }, name_dense_view { slot, mask, objects }
 *   name_packed_open(options, &ships), name_packed_adopt(packed, &ships), name_packed_close(ships)
 *   name_packed_resolve(view, id), name_packed_is_live(view, id)
 *   name_packed_diagnose, _id_at, _state, _position, _require, _objects, _ids, _id_in, _insert,
 *   _free, _kill, _sort, _sort_n, _sort_as, _swap
 *
 *   for (uint64_t i = 0; i < haft_packed_count(ships.packed); i++) {
 *       ships.view.objects[i].x += 1;
 *   }
 */
#define HAFT_TYPED_PACKED(name)                                                                    \
    typedef struct name##_dense_view {                                                             \
        const haft_packed_slot *slot;                                                              \
        uint64_t mask;                                                                             \
        name##_object *objects;                                                                    \
    } name##_dense_view;                                                                           \
    typedef struct name##_packed {                                                                 \
        haft_packed *packed;                                                                       \
        name##_dense_view view;                                                                    \
    } name##_packed;                                                                               \
    HAFT_TYPED_PACKED_FUNCTIONS(name)                                                              \
    struct name##_packed

/*
 * HAFT_TYPED_RESTORE(name) - after HAFT_TYPED_LOCAL(name): haft/kit/restore.h.
 *
 *   name_local_restore, _reserve_at, _restore_free, _for_each_slot
 */
#define HAFT_TYPED_RESTORE(name)                                                                   \
    HAFT_TYPED_RESTORE_FUNCTIONS(name)                                                             \
    struct name##_local

/*
 * haft/kit/export.h - statistics of all open tables in a file, for haft-top and other programs.
 *
 * Off until a program opens an export.  A thread of the export then writes the file anew every
 * interval; tables and workers know nothing of it and pay nothing.
 *
 * The file is `directory`/haft-PROCESS.json, readable and writable by its owner only.  It is
 * written under another name and renamed, so a reader finds it whole; closing removes it.  Where
 * processes of one number share the directory, as in containers, the second one writes
 * haft-PROCESS-2.json, and so on: each holds a lock (flock) on .haft-PROCESS.lock beside its file.
 * A program that ends without closing leaves both behind, and the next one of that number takes
 * them over.  A reader that then finds the lock free, or no such file, knows that the process has
 * ended or closed its export, also where it has children; a lock taken with LOCK_SH and released at
 * once disturbs no process.  A directory in memory, such as /run/user/UID, suits it best.
 *
 *   haft_export   the layout's version, 1
 *   process       its number; "started": in clock ticks since the machine's start (/proc), or 0;
 *                 "program": its name
 *   written_ns    CLOCK_BOOTTIME, or CLOCK_MONOTONIC where there is none; "interval_ms": until the
 *                 next time; "sequence": from 1
 *   domains       of the shared tables: "number", "clock" and what is in haft_domain_stats
 *   tables        the shared ones: "number", "name", the "domain"'s number, "object_size", and what
 *                 is in haft_table_stats
 *   counted       the counted tables: "number", "name", "object_size", and what is in
 *                 haft_counted_stats
 *
 * Systems without fork have no export: on Windows, and with HAFT_OS_BARE, these functions are not
 * there.
 *
 * Members may be added within a version.  Numbers of tables, domains and counted tables, each
 * counted apart, are not used again within a process.  Tables of one thread (haft_local,
 * haft_packed) are not in it: their counters are their thread's alone.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_export haft_export;

typedef struct haft_export_options {
    const char *directory; /* there already; only trusted users may write to it; copied */
    uint64_t interval_ms;  /* 10 to 3,600,000; 0: 1,000 */
} haft_export_options;

/*
 * haft_export_open, haft_export_open_sized - write the file now and every interval from now on.
 * `options` may be NULL: none is set, so the directory is refused.
 *
 * Returns   HAFT_OK and the export in `*opened`; or
 *             HAFT_UNKNOWN_OPTION, HAFT_BAD_INTERVAL_MS   the option of that name
 *             HAFT_BAD_DIRECTORY   no directory, or none that files can be written to
 *             HAFT_IN_USE          this process has one open
 *             HAFT_NO_FILE         the system refused the file or its lock, or 100 other processes
 *                                  of this number export to the directory
 *             HAFT_NO_MEMORY, HAFT_NO_THREAD
 * Threads   any; also in the child of a fork, whatever the other threads were doing.
 * Progress  blocking (files, malloc, a lock; starts a thread, which blocks all signals).
 * Cost      that of writing the file.
 */
haft_status haft_export_open_sized(const haft_export_options *options, size_t size,
                                   haft_export **opened);
#ifndef HAFT_WITHOUT_EXPORT
HAFT_INLINE haft_status haft_export_open(const haft_export_options *options, haft_export **opened)
{
    return haft_export_open_sized(options, sizeof *options, opened);
}
#endif

/*
 * haft_export_write - write the file now, whatever the interval.  What the calling thread has done
 * with tables before is in it.
 *
 * Returns   HAFT_OK; else the file is as it was: HAFT_NO_MEMORY; HAFT_NO_FILE, the system did not
 *           take it, or the export is of the parent of a fork.
 * Progress  blocking (a lock, files, malloc).
 * Cost      O(open tables and their workers, and slots ever used of counted tables).  The export's
 *           thread does the same each interval; opening and closing of tables waits for that.
 */
haft_status haft_export_write(haft_export *opened);

/*
 * haft_export_path - the path of the file, beginning with `directory` as given; owned by the
 * export.
 */
const char *haft_export_path(const haft_export *opened);

/*
 * haft_export_close - the end of the export and of its file.  In the child of a fork the file,
 * which is the parent's, stays.
 *
 * Threads   one thread, when no other uses the export.  Tables may be open.
 * Progress  blocking: waits for the export's thread.
 */
void haft_export_close(haft_export *opened);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_HAFT_KIT_H */

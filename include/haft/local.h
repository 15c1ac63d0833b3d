/*
 * haft/local.h - the handle table of one thread: slots with holes, stable addresses.
 *
 * The same ids, slots and resolve as the shared table, without worker, domain or read section:
 *
 *   void *object = haft_resolve(haft_local_view(local), id);
 *
 * In programs built with AddressSanitizer, library and all, a look at an object that was freed is
 * reported, until its slot is used again.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   one at a time for each table.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */
#ifndef HAFT_LOCAL_H
#define HAFT_LOCAL_H

#include <haft/detail/inline.h>
#include <haft/detail/options.h>
#include <haft/detail/stats.h>
#include <haft/diagnose.h>
#include <haft/status.h>
#include <haft/view.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_local haft_local;

/* Which free slot is used next. */
typedef enum haft_local_reuse {
    HAFT_REUSE_LIFO, /* the one freed last: it is in the cache */
    HAFT_REUSE_FIFO, /* the one freed first: generations are used up evenly */
} haft_local_reuse;

/*
 * Runs once for each live object that haft_local_free(), haft_local_clear() or haft_local_close()
 * ends; not for objects that a rewind or a load replaces (haft/kit/snapshot.h), nor for
 * reservations.  `id` is stale already; the object's bytes stay until this returns, and its slot
 * holds no other object before.
 *
 * It does not run within itself.  An object that it frees, or clears, is stale at once, but its own
 * on_destroy runs after this one has returned, and before the outermost call on the table does; in
 * no promised order, in a loop: a chain of any length needs no stack.  So an on_destroy cannot wait
 * for that of an object which it frees.  It returns, on its thread: no longjmp, no exception, no
 * switch of fibers; and its thread cannot be cancelled in it.
 *
 * It may call any function of this header on the table except haft_local_close() and
 * haft_local_set_destroy().  While the table closes, inserting and reserving answer HAFT_FULL.
 */
typedef void haft_local_destroy(void *object, haft_id id, void *arg);

/* on_bad_access is called also while the table is shared. */
typedef struct haft_local_options {
    HAFT_COMMON_OPTIONS; /* name, capacity, object_size and so on: see haft/detail/options.h */

    haft_local_reuse reuse;
    uint64_t min_free; /* with FIFO: free slots that are there before any is reused; see below */
    bool wrap;         /* after its last generation a slot goes on at generation 1: ids repeat */
    bool pins;         /* room for pins, for the time it is shared: see haft/pin.h */
    bool huge_pages;   /* for the slots, if the system has them: see haft/memory.h */
    bool will_share;   /* room for what workers hold back, for the time it is shared; see below */
    haft_local_destroy *on_destroy; /* NULL: nothing */
    void *destroy_arg;
    void *memory; /* of the program, for all that the table needs: see haft_local_footprint() */
    uint64_t memory_size;
} haft_local_options;

/*
 * How long ids last.  A generation of b bits, first generation f, gives a slot L = 2^b - f lives.
 * With HAFT_REUSE_FIFO and min_free = m, at least m other slots are freed between a slot's end and
 * its reuse, so a slot's k-th life begins at the earliest with
 *
 *   the ((k - 1) * (m + 1) + 1)-th id that the table issues.
 *
 * So the first slot is exhausted at the earliest when the ((L - 1) * (m + 1) + 1)-th is freed; with
 * wrap, the ((2^b - 1) * (m + 1) + 1)-th is the first that can repeat an earlier one.  16 bits and
 * m = 1,024 are 67 million ids; with m = 0, or HAFT_REUSE_LIFO, 65,535.
 *
 * Trimming costs some slots lives and keeps all this.  Restoring an id stands for issuing it and
 * all ids of its slot before it; haft_local_load_end() begins a new queue.  The m slots are
 * additional to the capacity.
 */

/*
 * Memory.  The table has slots for the capacity, min_free and four indices that no id has, to the
 * next power of two: 8,192 for a capacity of 4,096, and 4,096 for one of 4,092.  Up to 8 KiB of
 * them are one block of the heap, where huge_pages changes nothing.  More are address space, whose
 * pages are touched when slots are first used, and of more than 128 KiB can be trimmed.
 *
 * will_share adds an eighth of the capacity, but at least 4,096 slots (or the capacity, if that is
 * less) and at most 65,536.  While the table is shared, workers hold free slots back in batches out
 * of these.  Without them haft_share() has what the power of two leaves over, and where that is
 * little, batches are small and each step of a worker is slow.
 */

/*
 * haft_local_open, haft_local_open_sized - a new table.  It needs a capacity: `options` NULL is
 * HAFT_BAD_CAPACITY.
 *
 * Returns   HAFT_OK and the table in `*local`; HAFT_UNKNOWN_OPTION, or HAFT_BAD_ and the name of
 *           the option; HAFT_NO_MEMORY: no address space or memory, or `memory` is too small.
 * Progress  blocking (mmap, malloc).
 * Cost      O(1): memory is touched when slots are first used; up to 8 KiB of slots are one block,
 *           cleared.
 */
haft_status haft_local_open_sized(const haft_local_options *options, size_t size,
                                  haft_local **local);
HAFT_INLINE haft_status haft_local_open(const haft_local_options *options, haft_local **local)
{
    return haft_local_open_sized(options, sizeof *options, local);
}

/*
 * haft_local_footprint, haft_local_footprint_sized - what a table with these options needs, to be
 * given as `memory` and `memory_size`; those two and `huge_pages` change nothing here.
 *
 *   static char memory[40000];
 *   haft_local_open(&(haft_local_options){.capacity = 1000, .object_size = 24, .memory = memory,
 *                                         .memory_size = sizeof memory}, &local);
 *
 * The table then lies there entirely.  Opening clears the memory, unless that is too small; until
 * the table is closed nothing is allocated or mapped, and whatever id comes in, only the memory is
 * read and written.  Trim releases nothing.  These do allocate: haft_share(), whose table keeps the
 * slots where they are until it is closed; sides, histories, clones, loading, and saving with
 * `convert`; and the report of leaks at closing, which does without where it gets no memory.
 *
 * Returns   HAFT_OK and the footprint; what haft_local_open() says of an option; HAFT_NO_MEMORY:
 *           more than a block can have.
 * Threads   any.
 */
haft_status haft_local_footprint_sized(const haft_local_options *options, size_t size,
                                       haft_footprint *footprint);
HAFT_INLINE haft_status haft_local_footprint(const haft_local_options *options,
                                             haft_footprint *footprint)
{
    return haft_local_footprint_sized(options, sizeof *options, footprint);
}

/*
 * haft_local_set_destroy - another on_destroy from now on, as in a table of haft_unshare(); NULL:
 * none.
 *
 * Threads   one; not from on_destroy.
 */
void haft_local_set_destroy(haft_local *local, haft_local_destroy *on_destroy, void *destroy_arg);

/*
 * haft_local_close - the end of the table and of all objects in it, in order of index; then of
 * those whose reservations on_destroy has published meanwhile.  The caller has closed its sides
 * (haft/kit/side.h); debug builds assert it.  Where on_destroy looks at a side, or frees objects of
 * another table, haft_local_clear() comes first: for all such tables, before a side or table is
 * closed.
 *
 * Threads   one; not from on_destroy.
 * Progress  blocking (munmap, free).
 * Cost      O(memory touched), in the system; with on_destroy O(slots ever used).
 */
void haft_local_close(haft_local *local);

/* haft_local_view, haft_local_info - what resolves its ids; what the table was opened with. */
haft_view haft_local_view(const haft_local *local);
haft_info haft_local_info(const haft_local *local);

/*
 * haft_local_reserve - a slot whose id is not live yet.
 *
 * Returns   HAFT_OK, the id that haft_local_publish() will make live in `*id`, and the object's
 *           bytes, contents undefined, in `*object` (NULL may be passed); or
 *             HAFT_FULL        the capacity is in use (or exhausted)
 *             HAFT_NO_MEMORY   the system refused memory (strict overcommit)
 *             HAFT_LOADING     before haft_local_load_end()
 */
haft_status haft_local_reserve(haft_local *local, haft_id *id, void **object);

/*
 * haft_local_publish, haft_local_abort - a reserved id is live; or it never will be, and its slot
 * is free at once.  Both may be called while the table is being loaded (haft/kit/restore.h).
 */
void haft_local_publish(haft_local *local, haft_id id);
void haft_local_abort(haft_local *local, haft_id id);

/*
 * haft_local_insert - reserve, copy object_size bytes from `object` (NULL: zeros), publish.  `id`
 * must not point into `*object`.
 *
 * Returns   as haft_local_reserve().
 * Cost      O(1), and the copy.
 */
haft_status haft_local_insert(haft_local *local, const void *object, haft_id *id);

/*
 * haft_local_free - end an object's life; on_destroy runs.  `reuse` says when its slot is used
 * under another id; without wrap, a slot that has lived its last generation is not.
 *
 * Returns   HAFT_OK, or what haft_local_diagnose() says of the id.
 * Progress  wait-free except for on_destroy.
 */
haft_status haft_local_free(haft_local *local, haft_id id);

/*
 * haft_local_diagnose - why an id does or does not resolve.
 *
 * Returns   as haft_diagnose() in haft/table.h; HAFT_STALE also for generations below one that was
 *           restored.  Once a slot has wrapped, HAFT_STALE for all dead ids of used slots.
 */
haft_status haft_local_diagnose(const haft_local *local, haft_id id);

/*
 * haft_local_id_at - the id of a slot by its index.
 *
 * Returns   as haft_id_at() in haft/table.h; of an object whose on_destroy runs, the next life's.
 */
haft_status haft_local_id_at(const haft_local *local, uint64_t index, haft_id *id);

/*
 * haft_local_for_each - call `visit` for each live object, in order of index, until it returns
 * false.  It may free any object and insert; what is inserted meanwhile may or may not be visited.
 *
 * Returns   the number of calls.
 * Progress  wait-free except for the visitor.
 * Cost      O(slots ever used).
 */
uint64_t haft_local_for_each(haft_local *local, bool (*visit)(haft_id id, void *object, void *arg),
                             void *arg);

/*
 * haft_local_used_range - the slots that were ever used, for loops over runs (haft/view.h), which
 * may free and insert as a visitor may.  Empty in a table that never had an object.
 */
haft_range haft_local_used_range(const haft_local *local);

/*
 * haft_local_run_last - the last live object of a run over a table of one thread; the run ends
 * before it then.  So calls until there is none walk backwards; the loop may free and insert.
 *
 *   haft_run run = haft_run_over(haft_local_view(local), haft_local_used_range(local));
 *   while (haft_local_run_last(&run, &id, &object)) { ... }
 *
 * Returns   as haft_run_next().
 * Cost      as haft_run_next().
 */
HAFT_INLINE bool haft_local_run_last(haft_run *run, haft_id *id, void **object)
{
    while (run->left.from < run->left.to) {
        const uint64_t index = --run->left.to;
        char *slot = run->view.base + index * run->view.stride;
        const uint64_t word = haft_load_relaxed(HAFT_EDGE_OWN, HAFT_WORD(slot));

        if ((word & run->view.mask) == index) { /* only a live slot's word leads to itself */
            id->bits = word;
            *object = slot + sizeof(uint64_t);
            return true;
        }
    }
    return false;
}

/*
 * haft_local_clear - free every live object, in order of index.  All earlier ids are stale for ever
 * (with `wrap`, until generations begin again).  Objects that on_destroy inserts meanwhile may
 * stay.
 *
 * Returns   HAFT_OK; HAFT_IN_USE while a slot is reserved, so also in a C++ constructor of an
 *           object.
 * Progress  wait-free except for on_destroy.
 * Cost      O(slots ever used).
 */
haft_status haft_local_clear(haft_local *local);

/*
 * haft_local_count - the number of live objects.
 * haft_local_available - how many more objects fit: the capacity less exhausted slots and objects
 * that are live or reserved or whose on_destroy runs.
 */
uint64_t haft_local_count(const haft_local *local);
uint64_t haft_local_available(const haft_local *local);

/* live, free, exhausted, bytes and so on, with their meanings in haft/detail/stats.h. */
typedef struct haft_local_stats {
    HAFT_LOCAL_STATS(HAFT_STATS_MEMBER)
    uint64_t room[HAFT_LOCAL_STATS_ROOM - (HAFT_LOCAL_STATS(HAFT_STATS_COUNT))]; /* 0 */
} haft_local_stats;

/*
 * haft_local_stats_get - the table's statistics.  `bytes` are those of slots ever used, less those
 * released; of all slots, where they are in the heap or in given memory.
 */
haft_local_stats haft_local_stats_get(const haft_local *local);

/* --- memory --- */

/*
 * haft_local_reserve_capacity - have memory for `count` more objects now.
 *
 * Returns   HAFT_OK: until haft_local_trim() or a restored id, the next `count` reservations and
 *           insertions do not answer HAFT_NO_MEMORY, whatever is freed between them.  Otherwise:
 *             HAFT_FULL        `count` is more than haft_local_available()
 *             HAFT_NO_MEMORY   the system refused
 *             HAFT_LOADING     before haft_local_load_end()
 * Progress  blocking (mprotect, madvise).
 * Cost      O(count), and where the system can populate memory (Linux 5.14) a system call for each
 *           stretch of free slots.
 */
haft_status haft_local_reserve_capacity(haft_local *local, uint64_t count);

/*
 * haft_local_trim - release memory to the system: whole pages in which no slot is in use.  Stale
 * ids stay stale, and some slots lose lives, as with haft_trim() (haft/memory.h).
 *
 * These stay: page runs with an exhausted slot; the first one and the last that is used in part;
 * with min_free, those of the min_free slots freed last; everything, if there are at most 128 KiB
 * of slots, or an on_destroy is still to come.
 *
 * Returns   HAFT_OK, and the bytes in `*released` (NULL may be passed); or
 *             HAFT_NO_MEMORY   none for the page runs' generations, 16 bytes each
 *             HAFT_LOADING     before haft_local_load_end()
 *             HAFT_BAD_WRAP    in a table with `wrap`, a slot has wrapped, an id was restored or
 *                              the table was shared: ids would repeat
 * Progress  blocking (madvise).
 * Cost      as haft_trim().
 */
haft_status haft_local_trim(haft_local *local, uint64_t *released);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_LOCAL_H */

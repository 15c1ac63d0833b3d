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
#ifndef HAFT_SIDE_H
#define HAFT_SIDE_H

#include <haft/detail/inline.h>
#include <haft/kit/status.h>
#include <haft/local.h>
#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif /* HAFT_SIDE_H */

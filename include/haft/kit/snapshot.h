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
#ifndef HAFT_SNAPSHOT_H
#define HAFT_SNAPSHOT_H

#include <haft/kit/packed.h>
#include <haft/kit/status.h>
#include <haft/local.h>
#include <haft/view.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif /* HAFT_SNAPSHOT_H */

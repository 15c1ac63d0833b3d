/*
 * haft/memory.h - a table's memory: made ready beforehand, released to the system, provided by the
 * program, or in huge pages; and slots that have lived all their generations, for a table that must
 * go on.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any, registered or not, inside or outside a read section, alongside any call but
 *           haft_table_close() and haft_unshare().
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_MEMORY_H
#define HAFT_MEMORY_H

#include <haft/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* See haft/table.h. */
typedef struct haft_table haft_table;

/*
 * haft_allocator - where memory comes from, malloc or one's own: three functions and their context,
 * so small that it is passed by value.
 *
 *   haft_allocator from = haft_allocator_malloc();
 *   node = from.alloc(from.context, sizeof *node, alignof(struct node));
 *
 * alloc     `size` bytes at a multiple of `alignment`, a power of two; contents undefined.  Size
 *           0 is a block like any other, at an address that no other has.  Result NULL: no memory.
 * resize    `new_size` bytes for `memory`, a block of alloc or resize of `old_size` bytes, both
 *           that and `alignment` as asked for last.  The block may move; its first min(old_size,
 *           new_size) bytes are kept.  New size 0 does not free.  `memory` NULL, `old_size` 0: as
 *           alloc.  Result NULL: no memory, and the block is as it was.
 * free      ends `memory`, a block of `size` bytes, as asked for last.  NULL is nothing.
 *
 * Threads   as the memory behind it: malloc any, an arena (haft/kit/arena.h) one at a time.
 */
typedef struct haft_allocator {
    void *(*alloc)(void *context, size_t size, size_t alignment);
    void *(*resize)(void *context, void *memory, size_t old_size, size_t new_size,
                    size_t alignment);
    void (*free)(void *context, void *memory, size_t size);
    void *context;
} haft_allocator;

/*
 * haft_allocator_malloc - the C library's malloc, realloc and free: free() takes its blocks, and
 * its `free` takes blocks of malloc().  On Windows neither is allowed: there it is _aligned_malloc
 * and _aligned_free, as malloc has no larger alignments.  An alignment that is not a power of two
 * gets NULL.
 *
 * Threads   any, and so may its functions be called.
 * Progress  wait-free; its functions as malloc.
 * Cost      O(1).  resize copies where malloc's own alignment does not do.
 */
haft_allocator haft_allocator_malloc(void);

/*
 * haft_allocator_block - an allocator over `size` bytes of the program's at `memory`: a static
 * array, pages from hugetlbfs, a console's heap.  Tables and domains that have it as their
 * `allocator` lie in the block with all of their arrays, of any size.
 *
 *   static char memory[1 << 20];
 *   const haft_allocator block = haft_allocator_block(memory, sizeof memory);
 *   haft_table_open(domain, &(haft_table_options){.capacity = 1000, .allocator = &block}, &table);
 *
 * It moves one pointer up.  What is freed last is free again at once, all else when all parts are
 * freed: for what is opened, used for long, and closed together.  The block must last until then;
 * nothing is to be closed.  Up to 32 bytes are the allocator's own, and parts are multiples of 16
 * bytes: at most 2^24 parts, in the first 2^40 bytes.
 *
 * Threads   one, and its functions any: for workers that threads open at once.
 * Progress  wait-free; its functions lock-free.
 * Cost      O(1); resize copies.
 */
haft_allocator haft_allocator_block(void *memory, size_t size);

/*
 * haft_reserve_capacity - have memory for `count` more slots now, as haft_local_reserve_capacity()
 * for a local table: before deadlines begin, and with all workers open.
 *
 * `count` is a number of slots, not of objects: slots that wait for a grace period come on top of
 * those of live objects.  A program whose runs are alike finds the number in `high_water`, in the
 * statistics at the end of a run.  A worker draws some thousand fresh slots at a time, so the call
 * has memory for as many more for each worker that was ever open.  A worker that is added later,
 * for a thread or for a call without one, draws from the same memory.
 *
 * Returns   HAFT_OK: until haft_trim() is called or a worker is added, and while `high_water` rises
 *           by `count` at most, or the table has no more slots, calls with the workers that are
 *           open now do not answer HAFT_NO_MEMORY and make no system call for memory; and where the
 *           system can populate memory (see Cost), they touch no page of it for the first time.
 *           Otherwise the table has not changed:
 *             HAFT_FULL        `count` is more than the table's `limit` in the statistics
 *             HAFT_NO_MEMORY   the system refused
 * Progress  blocking (mprotect, madvise).  Others are never blocked by it.
 * Cost      O(slots ever used, and count) memory is touched, where the system can do so at once
 *           (Linux 5.14); else O(1), and pages are touched when they are first used.
 */
haft_status haft_reserve_capacity(haft_table *table, uint64_t count);

/*
 * haft_trim - release memory to the system: whole pages in which no slot is in use.  Stale ids stay
 * stale: the slots of a page run go on at the highest next generation among them, which costs some
 * of them lives; ids of these, never issued, count as HAFT_STALE from now on.  A page run is the
 * fewest slots, a power of two, that fill whole pages of 4 KiB; where that takes more than 16
 * pages, it is the slots of about 16 pages.  For large tables that were full and are not: free,
 * haft_worker_flush() by each worker, haft_domain_wait(), haft_trim().
 *
 * What stays: page runs with a slot that is live, reserved, pinned or exhausted, that waits for its
 * grace period, or that a worker holds back; page runs of which a part was never used, and the
 * first.  Everything, in tables with at most 128 KiB of slots.  Batch descriptors stay too: about
 * 4.5 bytes for each slot ever used, more in tables below 4,096 objects; and with `sites` 16 bytes
 * for each.
 *
 * First it reclaims the slots whose grace period has elapsed by then, so on_reclaim may run here,
 * with a worker that the table provides.  Then it holds all free slots until it returns:
 * other threads take fresh ones, or are told HAFT_BUSY for that long; haft_insert_wait() waits.
 * Free slots that stay are put in order of index.
 *
 * In the statistics, slots whose memory was released are `released` until a worker draws them;
 * `high_water` and `live` stay as they were.
 *
 * Returns   HAFT_OK, and the bytes released in `*released` (NULL may be passed).  Otherwise no
 *           memory is released:
 *             HAFT_BUSY         another thread is in this call
 *             HAFT_FORKED       in the child of a fork (haft/table.h)
 *             HAFT_IN_CALLBACK  the calling thread is inside a callback
 *             HAFT_BAD_WRAP     the table has `wrap`: no generation is higher than all before it
 *             HAFT_NO_MEMORY    none for a bit a slot, 16 bytes a page run, or a worker's part
 * Ordering  acquire: all readers of what lay in the pages are done.
 * Progress  blocking (madvise).  Others are never blocked by it.
 * Cost      O(slots ever used) of work, and a system call for each stretch of pages released.
 */
haft_status haft_trim(haft_table *table, uint64_t *released);

/*
 * An allocator of the program's own serves a haft_local, a haft_packed, a haft_table, a haft_domain
 * or a haft_history that has it in its options, and all that is opened for these: clones, sides,
 * workers, and memory that loading and saving need until they return.  The struct is copied, and
 * its context must last until all of these are closed; haft_share() and haft_unshare() keep the
 * allocator.  Its `resize` is not called, and may be NULL. If it refuses a block, the answer is
 * HAFT_NO_MEMORY, and nothing has changed.
 *
 * Arrays of more than 8 KiB are in pages of the system, which are reserved at once and used as they
 * are needed.  With haft_allocator_block() they lie in the block, cleared when they are opened:
 * nothing is mapped, trim releases nothing, and whatever id comes in, only the block is read and
 * written.  Batch descriptors take 4.5 bytes for each slot of a shared table, more in small ones;
 * each worker brings a few, and more while the slots that it has freed wait.  The report of leaks,
 * the census of debug builds and exports use malloc.
 *
 * Its functions run on each thread that opens or closes a worker, inserts, announces a quiescent
 * point or trims, so for a haft_table they must take any threads at once.  They may not use the
 * tables and domains that they serve.
 */

/*
 * Address space.  What is in pages is reserved for the capacity, and touched as slots are used.
 * Where address space counts, keep the capacity near what is needed:
 *
 *   ulimit -v, 32 bits        all of a reservation counts.  A shared table of 100 small objects
 *                             takes less than 64 KiB, and each worker 14 KiB more, at first
 *   strict overcommit,        pages are made writable as they are used, 2 MiB at a time: only these
 *   ulimit -d                 count
 *   core dumps                have what has been used, and up to 2 MiB more of each array, on Linux
 *                             and FreeBSD; elsewhere the system decides
 *   mlockall(MCL_FUTURE)      makes whole reservations resident when they are made.  On Linux call
 *                             mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) instead: pages are
 *                             locked as they are touched, and haft_reserve_capacity() touches those
 *                             that deadlines need.  Elsewhere open the tables before, and lock the
 *                             pages in use by mlock(), or have the tables in a block
 *   Windows                   all of a reservation is commit charge
 */

/*
 * Huge pages.  Slots of a large table that are used in no order are found faster on them, because
 * the processor keeps more of the way to them at hand.  The price: memory comes by 2 MiB at a time,
 * the first of them with the table.  haft_local_trim() releases the same runs as without: a huge
 * page of which a part goes is a huge page no more, its parts leave the program's resident memory
 * at once, and the system uses them again later.  Where the system has no huge pages, or is
 * configured not to give any, the option changes nothing.
 */

#ifdef __cplusplus
}
#endif

#endif /* HAFT_MEMORY_H */

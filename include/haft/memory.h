/*
 * haft/memory.h - a table's memory: made ready beforehand, released to the system, provided by the
 * program, or in huge pages.
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
 * haft_allocator - where memory comes from, malloc or one's own; small, so it is passed by value.
 *
 *   haft_allocator from = haft_allocator_malloc();
 *   node = from.alloc(from.context, sizeof *node, alignof(struct node));
 *
 * alloc     `size` bytes (0: a block like any other) at a multiple of `alignment`, a power of two;
 *           contents undefined.  NULL: no memory.
 * resize    `new_size` bytes (0 does not free) for `memory`, a block of `old_size` bytes, both that
 *           and `alignment` as asked for last.  The block may move; its first min(old_size,
 *           new_size) bytes are kept.  `memory` NULL, `old_size` 0: as alloc.  NULL: no memory, and
 *           the block is as it was.
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
 * its `free` those of malloc().  Not so on Windows, where it is _aligned_malloc and _aligned_free.
 * An alignment that is not a power of two gets NULL.
 */
haft_allocator haft_allocator_malloc(void);

/*
 * haft_allocator_block - an allocator over `size` bytes of the program's at `memory`: a static
 * array, pages from hugetlbfs, a console's heap.  Tables and domains that have it as their
 * `allocator` lie in the block with all of their arrays.
 *
 *   static char memory[1 << 20];
 *   const haft_allocator block = haft_allocator_block(memory, sizeof memory);
 *   haft_table_open(domain, &(haft_table_options){.capacity = 1000, .allocator = &block}, &table);
 *
 * It moves one pointer up.  What is freed last is free again at once, all else when all parts are
 * freed: for what is opened and closed together.  The block must last until then.  Up to 32 bytes
 * are the allocator's own, and parts are multiples of 16 bytes: at most 2^24 parts, in the first
 * 2^40 bytes.
 *
 * Threads   one; its functions any.
 * Progress  wait-free; its functions lock-free.
 * Cost      O(1); resize copies.
 */
haft_allocator haft_allocator_block(void *memory, size_t size);

/*
 * haft_reserve_capacity - have memory for `count` more slots now: before deadlines begin, and with
 * all workers open.
 *
 * Slots that wait for a grace period count as those of live objects do; `high_water` at the end of
 * a similar run is the number to ask for.  The call adds the fresh slots that each worker ever open
 * draws ahead.
 *
 * Returns   HAFT_OK: until haft_trim() is called or a worker is added, and while `high_water` rises
 *           by `count` at most, calls with the workers that are open now do not answer
 *           HAFT_NO_MEMORY and make no system call for memory; nor do they touch a page for the
 *           first time, where the system can populate memory (Linux 5.14).  Otherwise the table has
 *           not changed:
 *             HAFT_FULL        `count` is more than `limit` in the statistics
 *             HAFT_NO_MEMORY   the system refused
 * Progress  blocking (mprotect, madvise).  Others are never blocked by it.
 * Cost      O(slots ever used, and count) where memory is populated; else O(1).
 */
haft_status haft_reserve_capacity(haft_table *table, uint64_t count);

/*
 * haft_trim - release memory to the system: whole pages in which no slot is in use.  For large
 * tables that were full and are not: free, haft_worker_flush() by each worker, haft_domain_wait(),
 * haft_trim().
 *
 * Stale ids stay stale: the slots of a page run (those that fill 1 to about 16 pages of 4 KiB) go
 * on at the highest next generation among them.  That costs some of them lives, whose ids count as
 * HAFT_STALE.
 *
 * What stays: page runs with a slot that is live, reserved, pinned, exhausted or never used, that
 * waits for its grace period or that a worker holds; the first run; all of a table with at most 128
 * KiB of slots; batch descriptors and `sites`.
 *
 * It reclaims first, so on_reclaim may run.  Then it holds all free slots until it returns: other
 * threads take fresh ones or are told HAFT_BUSY.  In the statistics a slot is `released` until a
 * worker draws it again.
 *
 * Returns   HAFT_OK, and the bytes released in `*released` (NULL may be passed).  Otherwise no
 *           memory is released:
 *             HAFT_BUSY        another thread is in this call
 *             HAFT_FORKED, HAFT_IN_CALLBACK   see haft/table.h
 *             HAFT_BAD_WRAP    the table has `wrap`: ids repeat
 *             HAFT_CLOSED      after haft_table_clear(), while all workers are open
 *             HAFT_NO_MEMORY   none for a bit a slot, 16 bytes a page run, or a worker's part
 * Ordering  acquire: all readers of what lay in the pages are done.
 * Progress  blocking (madvise).  Others are never blocked by it.
 * Cost      O(slots ever used), and a system call for each stretch of pages released.
 */
haft_status haft_trim(haft_table *table, uint64_t *released);

/*
 * An allocator of the program's own serves the table, domain or history that has it in its options,
 * and all that is opened for it: clones, sides, workers, and memory that loading and saving need
 * until they return.  The struct is copied, and its context must last until all of these are
 * closed; haft_share() and haft_unshare() keep the allocator.  Its `resize` is not called, and may
 * be NULL.  If it refuses a block, the answer is HAFT_NO_MEMORY, and nothing has changed.
 *
 * Arrays of more than 8 KiB are in pages of the system, reserved at once and used as needed.  With
 * haft_allocator_block() they lie in the block, cleared when they are opened: nothing is mapped,
 * trim releases nothing, and whatever id comes in, only the block is read and written.  Batch
 * descriptors take 4.5 bytes for each slot of a shared table, more in small ones; each worker
 * brings a few, and more while the slots that it has freed wait.  The report of leaks, the census
 * of debug builds and exports use malloc.
 *
 * A haft_table calls its functions on any threads at once: where a worker is opened or closed, in
 * insertions, at quiescent points, in trim.  They may not use the tables and domains that they
 * serve.
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
 * Huge pages make random access to the slots of a large table faster.  Memory then comes by 2 MiB
 * at a time, the first with the table.  Trim releases the same runs as without, and splits huge
 * pages for that.  Where the system gives no huge pages the option changes nothing.
 */

#ifdef __cplusplus
}
#endif

#endif /* HAFT_MEMORY_H */

/*
 * concurrent/batches/tuning.h - every number that was chosen for speed or for memory, and why.
 *
 * docs/performance-notes.md has the measurements.  A number that follows from another is written as
 * a multiple of it.
 */
#ifndef HAFT_CONCURRENT_TUNING_H
#define HAFT_CONCURRENT_TUNING_H

/* --- batches --- */

/* Slots in a batch, at most: the shared operations of a batch are spread over them. */
#define BATCH_SLOTS 128

/* Batches in each of a worker's rings: more than may wait of full ones.  In the ring of a worker
 * that only frees, as many stay behind. */
#define RING_BATCHES 128

/* Empty descriptors that a worker keeps, in its own cache. */
#define SPARE_BATCHES 16

/* Descriptors that a worker brings at once, 11 KiB: twice those of the batches in use. */
#define SEGMENT_BATCHES (2 * PRIVATE_BATCHES)

/* Workers that the smallest tables' budgets are spread over. */
#define WORKERS_EXPECTED 16

/* --- fresh slots --- */

/* Drawn by a worker at once: 64 KiB with 24-byte objects, beyond a prefetcher's reach. */
#define EXTENT_SLOTS (16 * BATCH_SLOTS)

/* Extents that a table is divided into, if it is large enough, so that no worker draws it all. */
#define EXTENTS_LEAST 64

/* --- quiescent points --- */

/* Retired slots that are worth a ticket. */
#define WORTH_CLOSING 32

/* Partial batches that may wait, of the most that a ring may have: while this many do, only full
 * ones are retired. */
#define PARTIAL_BATCHES(most) ((most) / 2)

/* Retired slots that may wait, at most, before a quiescent point waits for them: the fewest that
 * leave two threads 97 % of their speed.  Half as many take 18 % of it where both wait for
 * liburcu's memb, a quarter of as many 37 %. */
#define BACKLOG_SLOTS (64 * BATCH_SLOTS)

/* Parts of the backlog: in between, if another thread drives the clock; and the retired slots for
 * which a thread looks at the announcements of all others (workers clock), in a table that is large
 * enough: open.c. */
#define BACKLOG_MOST(slots) ((slots) + (slots) / 2)
#define BACKLOG_WORTH(slots) ((slots) / 4)

/* Memory of a table that may wait for a grace period, if no option says: half of it is what 16
 * workers let wait of slots of 64 bytes.  Of larger slots fewer wait, and batches hold fewer. */
#define WAITING_BYTES (16 << 20)

/* Tickets for which the thread clock wakes: what one worker lets wait. */
#define TICKETS_PER_WAKE (BACKLOG_SLOTS / BATCH_SLOTS)

/* Elapsed slots reclaimed at one quiescent point, and up to a batch more: a bound on its pause. */
#define RECLAIMED_SLOTS (4 * BATCH_SLOTS)

/* Ready batches that a worker keeps, as it keeps an extent: the depot has the others, where each
 * refill looks before it draws fresh slots. */
#define READY_BATCHES (EXTENT_SLOTS / BATCH_SLOTS)

/* Batches of unpinned slots reclaimed at once. */
#define UNPINNED_MOST 512

/* Tickets remembered with the slots that they stand for: more of them wait within one job only. */
#define CLOSINGS RING_BATCHES

#endif /* HAFT_CONCURRENT_TUNING_H */

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
#ifndef HAFT_COMMANDS_H
#define HAFT_COMMANDS_H

#include <haft/detail/inline.h>
#include <haft/kit/arena.h>
#include <haft/kit/status.h>
#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif /* HAFT_COMMANDS_H */

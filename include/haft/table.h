/*
 * haft/table.h - the handle table that all threads share, and its workers.
 *
 * Threads insert and free through workers and resolve through the table's view (haft/view.h).
 * Objects never move; growth takes address space that was reserved at opening.  Built with
 * AddressSanitizer, program and library, a look at a freed object is reported from the moment its
 * slot is reclaimed until the slot is used again.
 *
 * Calls that would wait, or that announce a quiescent point, do nothing and answer HAFT_IN_SECTION
 * inside an inner job or inside a section of a clock that can tell (haft/domain.h),
 * HAFT_IN_CALLBACK inside a callback, HAFT_FORKED in the child of a fork (below).
 * haft_worker_quiescent() differs: in an inner job it only retires slots, and in such a child it
 * does all but wait; both times it returns HAFT_OK.  With qsbr and the workers clock they are
 * quiescent points of the calling thread: pointers that it resolved before are void, and "outside
 * read sections" means that it holds none.
 *
 * Progress and cost leave out what a call may run besides: on_reclaim; on_stall, or the line on
 * stderr in its place; system calls for memory (strict overcommit); and, in a worker's first
 * insertions and quiescent points, the allocator.
 *
 * The child of a fork has one thread, the one that forked.  With what its parent had open it
 * resolves, opens workers and goes on with its own, inserts, frees, pins, ends jobs and callbacks,
 * and closes: haft_table_close() and haft_domain_close() then only give memory back, wait for
 * nothing, call nothing, and count neither pins nor workers of threads that are gone.  What would
 * wait for a grace period says HAFT_FORKED, and what the child frees is used again only where
 * haft_domain_tick() ends grace periods.  Slots that other threads' workers held back, or that a
 * call was moving, are lost to the child; so is a table, with its domain, that another thread was
 * opening or closing.  A domain that the child opens is like any other; with a foreign clock that
 * knows of no forks, such as liburcu's except bp, its waits may last for ever.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing has
 *           changed, and results are untouched.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_TABLE_H
#define HAFT_TABLE_H

#include <haft/detail/inline.h>
#include <haft/detail/options.h>
#include <haft/detail/stats.h>
#include <haft/diagnose.h>
#include <haft/domain.h>
#include <haft/view.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_table haft_table;
typedef struct haft_worker haft_worker;

/* --- the table --- */

/*
 * on_reclaim: called once for each freed object, after its grace period, by the thread that
 * reclaims its slot: in calls that reserve or insert; in haft_worker_quiescent(), _flush() and
 * _close(); in haft_table_reclaim(), _clear() and _close(), haft_trim() and haft_unshare().
 * Objects that live when the table is cleared or closed are freed by that.  `object` may be read
 * and written until it returns, `worker` used, but not closed: it is one of the calling thread's,
 * or a closed one, borrowed for the call.  `id` is the id that the object had.
 *
 * It may reserve, publish, insert, abort, free and unpin, by `worker` and by any worker of its
 * thread; call haft_table_free(); and resolve and pin where its thread may.  It runs outside locks,
 * and never within another callback of a shared table.  Calls that wait, announce a quiescent
 * point, close, flush, trim or share answer HAFT_IN_CALLBACK, for every table and domain: a job
 * above the callback may hold pointers.  A reservation in a callback reclaims nothing itself: so it
 * may answer HAFT_BUSY where one after the callback finds a slot.  The callback returns: no
 * longjmp(), no exception.
 *
 * A worker hands over what it has freed in haft_worker_flush(), in haft_worker_close(), and in a
 * haft_worker_quiescent() with 32 frees or none since the last one; parking hands nothing over.
 * haft_table_free(), and the last unpin of a freed object, hand over to the next quiescent point.
 * From then on each quiescent point of each worker of the table looks whether the grace period is
 * over, and then reclaims some hundred slots of any worker; with never_wait only those that this
 * worker has freed and that no ring has room for.  haft_table_reclaim() waits for it.
 *
 * A call reclaims only slots whose grace period has elapsed when it begins, so it returns, whatever
 * callbacks free while grace periods end.  haft_table_clear(), haft_table_close() and
 * haft_unshare() go on until no freed object is left, and haft_insert_wait() and its kin while the
 * answer is HAFT_BUSY.
 */
typedef void haft_reclaim(void *object, haft_id id, haft_worker *worker, void *arg);

/*
 * capacity: the table holds at least this many objects.  Slots that workers hold back come from
 * beyond it: leave an eighth of the index range free, or 4,096 slots; else the table works, but
 * every call is a shared operation.
 */
typedef struct haft_table_options {
    HAFT_COMMON_OPTIONS; /* name, capacity, object_size and so on: see haft/detail/options.h */

    bool wrap; /* after its last generation a slot goes on at generation 1: ids repeat; see below */
    bool pins; /* objects can be pinned: see haft/pin.h */

    /* For the slots, if the system has them: 2 MiB at a time, the first with the table.  Faster
     * where the slots of a large table are used in random order: see haft/memory.h. */
    bool huge_pages;

    haft_reclaim *on_reclaim; /* NULL: none */
    void *reclaim_arg;

    /* The most memory that freed objects may keep while they wait for a grace period or a pin; at
     * least one slot.  0: 16 MiB, for quiescent points and batches alone.  See below. */
    uint64_t waiting_bytes;

    /* haft_worker_quiescent() never waits for a grace period: for threads with a deadline.  Then
     * others must drive the clock: haft_domain_wait(), or the thread clock. */
    bool never_wait;
} haft_table_options;

/*
 * waiting_bytes.  A worker's part of it, 1/32 but at most 8,192 slots, decides when a quiescent
 * point waits; batches are smaller where those of 16 workers would take half of it.  If the option
 * is set, and only then, the table never uses more slots than the most that were live or reserved
 * at one time and as many as fit in waiting_bytes: where a fresh slot would exceed that, the answer
 * is HAFT_BUSY, and haft_insert_wait() waits.  So a thread that stays in a read section costs at
 * most that much memory.  Slots that are exhausted, or whose memory is released, do not count.  A
 * slot is the object and 8 bytes, 8 more with pins, at the object's alignment.  Frees never fail:
 * objects that were live at once may all wait at once.
 */

/*
 * How long ids last, with `wrap` and generations of b bits: an id repeats after 2^b - 1 lives of
 * its slot at the earliest, with a grace period between two lives.
 */

/*
 * live, reserved, retired and so on, with their meanings in haft/detail/stats.h.  Each number is
 * exact when no call on the table is under way.
 */
typedef struct haft_table_stats {
    HAFT_TABLE_STATS(HAFT_STATS_MEMBER)
    uint64_t room[HAFT_TABLE_STATS_ROOM - (HAFT_TABLE_STATS(HAFT_STATS_COUNT))]; /* 0 */
    haft_domain_stats clock;                                                     /* the domain's */
} haft_table_stats;

/*
 * haft_table_open, haft_table_open_sized - a new table on `domain`.  It needs a capacity: `options`
 * NULL is HAFT_BAD_CAPACITY.
 *
 * Returns   HAFT_OK and the table in `*table`; HAFT_UNKNOWN_OPTION, or HAFT_BAD_ and the name of
 *           the option; HAFT_NO_MEMORY: no address space or memory.
 * Progress  blocking (mmap, malloc).
 * Cost      O(1): memory is touched when slots are first used.
 */
haft_status haft_table_open_sized(haft_domain *domain, const haft_table_options *options,
                                  size_t size, haft_table **table);
HAFT_INLINE haft_status haft_table_open(haft_domain *domain, const haft_table_options *options,
                                        haft_table **table)
{
    return haft_table_open_sized(domain, options, sizeof *options, table);
}

/*
 * haft_table_footprint, haft_table_footprint_sized - what opening a table with these options takes,
 * without workers: address space, and on Windows how much of it is committed.
 *
 * Returns   HAFT_OK and the footprint, at least; what haft_table_open() says of an option;
 *           HAFT_NO_MEMORY: more than a process can have.
 */
haft_status haft_table_footprint_sized(const haft_table_options *options, size_t size,
                                       haft_footprint *footprint);
HAFT_INLINE haft_status haft_table_footprint(const haft_table_options *options,
                                             haft_footprint *footprint)
{
    return haft_table_footprint_sized(options, sizeof *options, footprint);
}

/*
 * haft_table_clear - the end of all objects.  From this call on no worker is opened, and insertions
 * and reservations answer HAFT_CLOSED; a worker that is open may still use the slots that it holds.
 * When no worker is open, all lives end, and after a grace period on_reclaim runs for each object,
 * in order of index for those that lived.  Reservations hold nothing up; one that a callback
 * publishes is an object that ends as the others do.
 *
 * Frees, and all calls that look, answer as before: HAFT_STALE to a callback that frees another
 * object of the table.  So tables whose callbacks free each other's objects are all cleared before
 * the first is closed.
 *
 * Returns   HAFT_OK.  Otherwise it may be called again:
 *             HAFT_IN_SECTION, HAFT_IN_CALLBACK, HAFT_FORKED   nothing has changed
 *             HAFT_IN_USE   a worker is open, and no object has ended; or pins keep objects, or a
 *                           call of another thread is under way: all others have ended
 * Threads   any outside read sections, alongside any call but haft_table_close() and
 *           haft_unshare().
 * Progress  blocking: waits for readers, if there are objects.  Frame clock: waits for no tick; no
 *           thread may hold a pointer.
 * Cost      a grace period; O(slots ever used).
 */
haft_status haft_table_clear(haft_table *table);

/*
 * haft_table_close - haft_table_clear(), then the end of the table.  It needs no memory.
 *
 * It waits for read sections that may still have an object.  If no object lives, and the freed ones
 * have been flushed and their grace periods have passed, no section has one, and the call does not
 * wait.  So a read section protects the objects that it has resolved, not the table: a
 * haft_resolve() through the view of a closed table is misuse, whatever the id.
 *
 * Returns   HAFT_OK.  Otherwise the table is still open:
 *             HAFT_IN_SECTION, HAFT_IN_CALLBACK   nothing has changed
 *             HAFT_IN_USE   a worker is open: nothing has changed; or an object is pinned, or a
 *                           side is open (haft/kit/side.h): all other objects have ended
 * Threads   one thread outside read sections, when no other thread uses the table any more.
 * Ordering  acquire: all earlier uses of the table are visible.
 * Progress  as haft_table_clear().
 * Cost      a grace period, or none; O(slots ever used) with an on_reclaim, with pins, or in debug
 *           builds; else O(workers and waiting batches).
 */
haft_status haft_table_close(haft_table *table);

/*
 * haft_table_reclaim - run on_reclaim for all objects that were freed before the call by
 * haft_table_free(), by the calling thread's worker, or by others that have flushed since; but not
 * for those that are pinned, or that haft_table_clear() ends.
 *
 * Returns   HAFT_OK; other threads have returned from on_reclaim for these, too.  HAFT_BUSY: there
 *           may be more, as on_reclaim has freed or unpinned others, a worker's batches have been
 *           put together, or a tick has to come (frame clock).  Otherwise nothing is done:
 *           HAFT_IN_SECTION, HAFT_IN_CALLBACK, HAFT_FORKED; if no worker is left for the call,
 *           HAFT_CLOSED or HAFT_NO_MEMORY.
 * Threads   any outside read sections, with or without a worker; it may hold no lock that
 *           on_reclaim takes.
 * Ordering  acquire: what on_reclaim has done in other threads is visible.
 * Progress  blocking: waits once for readers, and for on_reclaim in other threads.
 * Cost      a grace period; O(workers), and the objects.
 */
haft_status haft_table_reclaim(haft_table *table);

/* --- looking at it --- */

/* haft_table_view - what resolving needs; the same for the table's whole life. */
haft_view haft_table_view(const haft_table *table);

/* haft_table_info - what the table was opened with. */
haft_info haft_table_info(const haft_table *table);

/*
 * haft_diagnose - why an id does or does not resolve: HAFT_OK of a live object, else what is wrong
 * with the id (haft/status.h).  With wrap, any dead id of a used slot is HAFT_STALE.  A momentary
 * answer, as haft_is_live().
 */
haft_status haft_diagnose(const haft_table *table, haft_id id);

/*
 * haft_id_at - the id of a slot by its index, as haft_id_index() gives it: for arrays beside a
 * table, and messages that hold indices alone.
 *
 * Returns   a momentary answer, as haft_is_live():
 *             HAFT_OK             the slot's object is live, with that id
 *             HAFT_RESERVED       the id will be live if it is published
 *             HAFT_STALE          no object is live; the slot's next one will have that id
 *             HAFT_NEVER_ISSUED   the same, of a slot that was never used, or that no worker has
 *                                 drawn since its memory was released
 *             HAFT_EXHAUSTED      HAFT_NIL: the slot will not be used again
 *             HAFT_OUT_OF_RANGE   the table issues no such index; `*id` is untouched
 * Ordering  acquire for HAFT_OK; none otherwise.
 */
haft_status haft_id_at(const haft_table *table, uint64_t index, haft_id *id);

/*
 * haft_table_stats_get - the table's counters: exact when no call on the table is under way, else
 * off by no more than the calls made meanwhile, `high_water` and `free` also by the fresh slots
 * that workers are drawing just then.
 *
 * Cost      O(workers ever open at one time).
 */
haft_table_stats haft_table_stats_get(const haft_table *table);

/* --- workers: a thread's own part of a table, for allocating and freeing --- */

/*
 * A worker holds one batch of up to 128 slots to insert into and one of slots it has freed.
 * Batches travel through a ring that other workers may take from, and through the table's depot, so
 * nearly all calls write nothing that another thread writes, except for the slot itself.
 *
 * A worker belongs to the thread that opened it.  Debug builds assert that the worker of a call is
 * open and the calling thread's; AddressSanitizer reports the use of a closed one.  A thread that
 * comes for a while opens a worker and closes it again; one that may end anywhere, or sleep, or
 * that the program does not know uses a haft_counted (haft/counted.h).
 *
 * A worker's duties: reclaim slots whose grace period has elapsed, its own first, then those of the
 * depot and of other workers, some hundred at a time, where on_reclaim or pins ask for it; drain
 * the lists of slots that haft_table_free() freed, and of unpinned ones.  haft_worker_quiescent(),
 * _flush() and _close() do them, so on_reclaim may run there.
 */

/*
 * haft_worker_open - a worker for the calling thread.
 *
 * With the workers clock, and with qsbr on a registered thread, the thread is online until the
 * worker is closed, whatever it was before: in a read section, so it must pass quiescent points,
 * and park before it blocks (haft_thread_park), or every grace period waits for it.  When all
 * workers are closed that were opened since it was parked or offline, it is so again.  Workers
 * clock: a thread that runs jobs opens its first worker in one (haft_job_begin).
 *
 * Returns   HAFT_OK and the worker in `*worker`; HAFT_NO_MEMORY; HAFT_CLOSED after
 *           haft_table_clear().
 * Ordering  acquire from the close of the worker whose part it takes over.
 * Progress  lock-free, except for malloc when there are more workers than ever before.
 * Cost      O(1) if the thread's latest worker is of the same table, and no other thread has it;
 *           else O(workers ever open at one time).
 */
haft_status haft_worker_open(haft_table *table, haft_worker **worker);

/*
 * haft_worker_close - the end of a worker, after its duties.  Its slots become available to others;
 * those it has reserved and neither published nor given up stay reserved.
 *
 * Returns   HAFT_OK; HAFT_IN_CALLBACK inside a callback that has not opened the worker.  One that
 *           has may close it, without duties.
 * Threads   the worker's thread, inside or outside a read section; if that has ended, a thread that
 *           knows so, as from joining it.  Workers clock: the close of the thread's last worker on
 *           the domain is a quiescent point outside of jobs.
 * Ordering  release to the workers that take its slots over.
 * Progress  lock-free.
 * Cost      O(batch), and its duties.
 */
haft_status haft_worker_close(haft_worker *worker);

/*
 * haft_worker_quiescent - tell the domain that this thread holds no resolved pointer now.  Call it
 * between jobs.  It bounds the memory that waits (docs/guide.md#limits).
 *
 * It announces the quiescent state (qsbr, workers clock), retires freed slots, unless they are few
 * and the worker goes on freeing, and does the worker's duties.  It waits for a grace period when
 * too many of the worker's slots wait for one (waiting_bytes), or some worker has found none; never
 * with the frame clock or never_wait.  In an inner job it only retires.
 *
 * Returns   HAFT_OK; HAFT_IN_CALLBACK; HAFT_IN_SECTION inside a section of a clock that can tell,
 *           unless that section is its outermost job.
 * Threads   the worker's thread outside read sections of any domain (offline in others).
 * Ordering  release towards grace periods.
 * Progress  blocking, when it must wait.
 * Cost      O(1); O(workers and their threads) while slots wait for on_reclaim or pins, or, workers
 *           clock, many of the worker's; a wait once in 8,192 frees, or after a failed allocation.
 */
haft_status haft_worker_quiescent(haft_worker *worker);

/*
 * haft_worker_flush - give all of the worker's slots to other workers, freed ones and those it
 * could still reserve, and do its duties: for a thread that will be idle for long.
 *
 * Returns   HAFT_OK, or HAFT_IN_CALLBACK.
 * Threads   the worker's thread, inside or outside a read section.
 * Ordering  release to the workers that take its slots over.
 * Progress  lock-free.
 * Cost      O(batch), and its duties.
 */
haft_status haft_worker_flush(haft_worker *worker);

/* haft_worker_table - the table that it was opened on. */
haft_table *haft_worker_table(const haft_worker *worker);

/* --- one object --- */

/*
 * haft_reserve - a slot that no other thread sees yet.
 *
 * Returns   HAFT_OK, the id that haft_publish() will make live in `*id`, and the object's bytes,
 *           contents undefined, in `*object` (NULL may be passed); or
 *             HAFT_FULL        the table's capacity is in use, or slots are exhausted and other
 *                              workers may hold back all others
 *             HAFT_BUSY        all other slots, or as many as waiting_bytes allows, wait for a
 *                              grace period or a pin, or are with other threads: try again after
 *                              haft_worker_quiescent() or the tick, or take haft_reserve_wait()
 *             HAFT_CLOSED      after haft_table_clear(), once the worker holds no slot
 *             HAFT_NO_MEMORY   the system refused memory (strict overcommit)
 * Threads   the worker's thread, inside or outside a read section.
 * Ordering  acquire: all readers of the slot's former object are done.
 * Progress  lock-free.
 * Cost      O(1), no atomic read-modify-write; once in a batch one or two shared ones.
 */
haft_status haft_reserve(haft_worker *worker, haft_id *id, void **object);

/*
 * haft_publish - the reserved id is live from now on.
 *
 * Threads   the worker's thread, by the worker that reserved the id, or by another of the table,
 *           whose thread was handed the reservation.
 * Ordering  release: the object's bytes are visible to each thread that resolves the id.
 * Cost      O(1): one store.
 */
void haft_publish(haft_worker *worker, haft_id id);

/*
 * haft_abort - give a reserved slot up.  The id will never be live, and on_reclaim is not called.
 *
 * Threads   as haft_publish().
 * Progress  lock-free.
 * Cost      O(1).  The slot comes back after a grace period, as it is retired with freed ones.
 */
void haft_abort(haft_worker *worker, haft_id id);

/*
 * haft_insert - reserve, copy object_size bytes from `object` (NULL: zeros), publish.  `id` must
 * not point into `*object`.
 *
 * Returns   as haft_reserve(); on HAFT_OK the object is live.
 * Threads   as haft_reserve().
 * Ordering  as haft_reserve() and haft_publish().
 * Progress  lock-free.
 * Cost      as haft_reserve(), and the copy.
 */
haft_status haft_insert(haft_worker *worker, const void *object, haft_id *id);

/*
 * haft_reserve_wait, haft_insert_wait - the same, waiting while the answer is HAFT_BUSY: for grace
 * periods, and for other threads to unpin where pins are the reason.
 *
 * Returns   as haft_reserve(), but HAFT_BUSY only with the frame clock, where waiting cannot help;
 *           HAFT_IN_SECTION, HAFT_IN_CALLBACK, HAFT_FORKED if they would have to wait.
 * Threads   the worker's thread outside read sections.
 * Ordering  as haft_reserve() and haft_insert().
 * Progress  blocking: waits for readers.
 * Cost      as haft_reserve() and haft_insert(), or a grace period or more.
 */
haft_status haft_reserve_wait(haft_worker *worker, haft_id *id, void **object);
haft_status haft_insert_wait(haft_worker *worker, const void *object, haft_id *id);

/*
 * haft_free - end an object's life.  Of all callers racing on one id, one succeeds.  Others may
 * read the object until a grace period has passed; on_reclaim runs after that.  Never allocates.
 *
 * Returns   HAFT_OK to the winner; else what haft_diagnose() says of the id; HAFT_RESERVED:
 *           haft_abort() gives it up.
 * Threads   the worker's thread, inside or outside a read section.  Any worker may free any id.
 * Ordering  acquire on HAFT_OK; none otherwise.
 * Progress  lock-free.
 * Cost      O(1): one compare-and-swap; once in a batch one or two shared operations more.
 */
haft_status haft_free(haft_worker *worker, haft_id id);

/*
 * haft_table_free - as haft_free(), for threads that have no worker: finalizers, destructors, an
 * on_destroy of haft/counted.h, other tables' callbacks.  It is their one call; threads that do
 * more open a worker.  The slot's grace period begins when a worker does its duties or looks for a
 * slot.
 *
 * Threads   any, registered or not, inside or outside a read section, also in callbacks.
 * Cost      a compare-and-swap and two shared operations.
 */
haft_status haft_table_free(haft_table *table, haft_id id);

/* --- many at once --- */

/*
 * Each id gets the result of a single call, in the order of the array; what many share is done
 * once, and the memory of later slots is fetched meanwhile.  A call that cannot do all does what it
 * can, says how far it came, and leaves the rest as it was.  A count of 0 does nothing.
 */

/*
 * haft_insert_many - insert up to `count` objects, which lie one after another, object_size bytes
 * each, from `objects` on (NULL: zeros).  `ids` must not overlap them.
 *
 * Returns   how many were inserted, from the first on: ids[i] is objects[i]'s, the rest of `ids` is
 *           untouched.  `*why` (NULL may be passed) is HAFT_OK if all were, else what haft_insert()
 *           says of the next.
 * Threads   as haft_insert().
 * Ordering  as haft_insert(), for each.
 * Progress  lock-free.
 * Cost      O(count): as haft_insert(), without the calls.
 */
size_t haft_insert_many(haft_worker *worker, const void *objects, haft_id *ids, size_t count,
                        haft_status *why);

/*
 * haft_free_many - free `count` objects; of an id that stands in the array twice, the first.
 *
 * Returns   how many were freed.  statuses[i] (`statuses` may be NULL) is what haft_free() says of
 *           ids[i].
 * Threads   as haft_free(); the arrays are the caller's and may not overlap.
 * Ordering  as haft_free(), for each.
 * Progress  lock-free.
 * Cost      O(count): as haft_free(), without the calls.
 */
size_t haft_free_many(haft_worker *worker, const haft_id *ids, size_t count, haft_status *statuses);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_TABLE_H */

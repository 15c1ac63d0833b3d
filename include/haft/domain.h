/*
 * haft/domain.h - the domain: what decides when a freed slot may be reused; its read sections and
 * jobs.
 *
 * A freed object's memory is reused only after a grace period: when every read section that was
 * open at the free has ended.  A domain has a clock, which finds out when that is; any number of
 * tables share it.  The clock says what a read section is:
 *
 *   thread, caller   the sections of the foreign clock it was opened with: of another library, such
 *                    as liburcu (see below)
 *   workers          from one haft_worker_quiescent() of a thread to the next; only threads with
 *                    an open worker on the domain may resolve
 *   frame            from one haft_domain_tick() to the next; any thread may resolve
 *
 * Batches of freed slots take tickets; the driver of the clock waits for one full grace period and
 * then marks all tickets that were taken before it began as done.
 *
 * HAFT_IN_CALLBACK says that the calling thread is inside a callback; HAFT_IN_SECTION that it is in
 * an inner job (not with the frame clock), or in a section of a foreign clock that can tell
 * (liburcu's except qsbr).  With qsbr and the workers clock, calls that wait are quiescent points
 * of the calling thread: pointers that it resolved before are void.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing has
 *           changed.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_DOMAIN_H
#define HAFT_DOMAIN_H

#include <haft/clock.h>
#include <haft/detail/inline.h>
#include <haft/detail/options.h>
#include <haft/detail/stats.h>
#include <haft/detail/tsan.h>
#include <haft/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_domain haft_domain;

/*
 * The clocks.  X(UPPER, lower): HAFT_CLOCK_UPPER, which is called "lower" in messages.
 *
 *   HAFT_CLOCK_WORKERS   the default, for threads that come to quiescent points often.  Workers
 *                        announce them, and any thread looks for the lowest announcement: no fence,
 *                        no system call, no other thread.  What waits (haft_worker_quiescent,
 *                        haft_..._wait, haft_table_close) gives the processor up and looks again.
 *                        No foreign clock
 *   HAFT_CLOCK_THREAD    for programs that have read sections of a foreign clock: that clock, and a
 *                        background thread per domain that waits for its grace periods, asleep
 *                        when nothing is requested
 *   HAFT_CLOCK_CALLER    a foreign clock; the threads that need its grace periods wait for them, in
 *                        the calls named above, without a background thread
 *   HAFT_CLOCK_FRAME     for frames that end in a barrier of all threads: the program's
 *                        haft_domain_tick() between them; no foreign clock
 */
#define HAFT_CLOCKS(X) X(WORKERS, workers) X(THREAD, thread) X(CALLER, caller) X(FRAME, frame)
#define HAFT_NUMBERED_CLOCK(UPPER, lower) HAFT_CLOCK_##UPPER,

typedef enum haft_clock {
    HAFT_CLOCKS(HAFT_NUMBERED_CLOCK) /* from 0 on */
    HAFT_CLOCK_COUNT                 /* how many there are; not a clock */
} haft_clock;

/* What the stall callback is told. */
typedef struct haft_stall {
    haft_domain *domain;
    uint64_t waited_ns; /* how long a grace period has been waited for */
    uint64_t backlog;   /* batches of freed slots that wait for it */

    /* Workers clock: what holds it up.  Others, or not known: NULL and 0. */
    struct haft_worker *worker; /* one that this thread has open, to be compared and printed */
    uint64_t thread;            /* as the system numbers it (gettid) */
} haft_stall;

/* All zero, as a NULL in their place: the workers clock, and stalls reported after a second. */
typedef struct haft_domain_options {
    /*
     * Thread, caller: required, such as haft_urcu_memb() of haft/urcu.h, or the program's own; it
     * is copied.  In the child of a fork: one that can wait there (haft/table.h).  Workers, frame:
     * NULL.
     */
    const haft_foreign_clock *foreign_clock;
    haft_clock clock;

    /*
     * Called when a grace period in progress has lasted stall_ns, once per stall: by a worker on a
     * slow path (no free slot at hand; a quiescent point while 1,024 slots wait, fewer of large
     * objects, or any for an on_reclaim), or by a thread that waits for another one's grace period.
     * If no other thread runs, a stall of a wait in a foreign clock goes unnoticed.  The frame
     * clock has no stalls.  The callback may look at statistics and diagnose ids, but neither
     * resolve (the thread may be offline), insert or free, nor open workers; what waits or closes
     * answers HAFT_IN_CALLBACK.  It is not called inside another callback.  NULL: one line on
     * stderr says which domain waits, for how long, which thread holds it up if the clock can tell,
     * and what to do.  stall_ns 0: one second.
     */
    void (*on_stall)(const haft_stall *stall, void *stall_arg);
    void *stall_arg;
    uint64_t stall_ns;

    /* For the domain and, with the workers clock, 64 bytes a thread; copied; NULL: malloc. */
    const struct haft_allocator *allocator;
} haft_domain_options;

/* grace_periods, backlog and so on, with their meanings in haft/detail/stats.h. */
typedef struct haft_domain_stats {
    HAFT_DOMAIN_STATS(HAFT_STATS_MEMBER)
    uint64_t room[HAFT_DOMAIN_STATS_ROOM - (HAFT_DOMAIN_STATS(HAFT_STATS_COUNT))]; /* 0 */
} haft_domain_stats;

/*
 * haft_domain_open, haft_domain_open_sized - a new domain; `options` NULL: all defaults.
 *
 * Returns   HAFT_OK and the domain in `*domain`; HAFT_UNKNOWN_OPTION, HAFT_BAD_FOREIGN_CLOCK,
 *           HAFT_BAD_CLOCK, for the option of that name; HAFT_NO_MEMORY, HAFT_NO_THREAD.
 * Threads   any, registered or not.  Hand `*domain` over to others as any other pointer.
 * Progress  blocking (HAFT_CLOCK_THREAD starts a thread, which blocks all signals).
 */
haft_status haft_domain_open_sized(const haft_domain_options *options, size_t size,
                                   haft_domain **domain);
HAFT_INLINE haft_status haft_domain_open(const haft_domain_options *options, haft_domain **domain)
{
    return haft_domain_open_sized(options, sizeof *options, domain);
}

/*
 * haft_domain_close - the end of a domain.
 *
 * Returns   HAFT_OK, or
 *             HAFT_IN_USE        a table is open on it
 *             HAFT_IN_SECTION    in any job of this clock, or parked in one, or with qsbr and the
 *                                workers clock parked at all; or in a section of a clock that
 *                                can tell.  Not with the frame clock
 *             HAFT_IN_CALLBACK   in a callback
 * Threads   one thread outside read sections, when no other thread uses the domain any more.  Debug
 *           builds assert with the workers and the frame clock that all sections have ended, with
 *           the frame clock all jobs too.
 * Progress  blocking: waits for a grace period that the clock's own thread has begun.
 */
haft_status haft_domain_close(haft_domain *domain);

/*
 * haft_domain_wait - wait until all that was freed and flushed before may be reused.  What sits in
 * a worker's open batch, or was freed by haft_table_free(), is not covered: haft_worker_flush()
 * retires it.
 *
 * Returns   HAFT_OK; HAFT_IN_SECTION; HAFT_IN_CALLBACK, also if nothing waits; and if something
 *           does,
 *             HAFT_BUSY     frame clock: only a tick will help
 *             HAFT_FORKED   in the child of a fork: see haft/table.h
 * Threads   any thread outside read sections.
 * Ordering  acquire: what other threads did in read sections that were waited for is visible, and
 *           what they did before they retired freed slots.
 * Progress  blocking: waits for readers.
 * Cost      a grace period, unless nothing was requested.
 */
haft_status haft_domain_wait(haft_domain *domain);

/*
 * haft_domain_tick - frame clock: the end of one frame and the beginning of the next.  All that was
 * freed and flushed before may be reused; a free that meets the tick counts for the next frame.
 * What sits in a worker's open batch stays there: haft_worker_quiescent() by each worker at the end
 * of its frame retires what is worth it.
 *
 * Returns   HAFT_OK; HAFT_WRONG_CLOCK, the domain has another clock; HAFT_IN_CALLBACK.
 * Threads   one thread, while no thread holds a resolved pointer: the program's own synchronisation
 *           (the end of the frame's jobs) comes between.  Debug builds assert that all sections
 *           have ended.
 * Ordering  release: the frame's uses come before the reuse of freed slots.
 * Progress  lock-free.
 */
haft_status haft_domain_tick(haft_domain *domain);

/*
 * haft_domain_stats_get - the clock's counters: each is exact; together they may be of different
 * moments.
 */
haft_domain_stats haft_domain_stats_get(const haft_domain *domain);

/* --- read sections and jobs: the span in which a resolved pointer stays valid --- */

/*
 * With the thread and the caller clock these functions call the foreign clock that the domain was
 * opened with, and tell ThreadSanitizer (haft/detail/tsan.h).  Readers that want liburcu's inlined
 * read lock call it directly instead; haft's headers never define _LGPL_SOURCE.
 *
 *   with begin()    a section lasts from haft_section_begin() to haft_section_end(); a thread's
 *                   sections nest.  Of liburcu: memb, mb, bp
 *   with online()   begin and end do nothing: a section lasts from one quiescent point
 *                   (haft_worker_quiescent, haft_thread_offline) to the next.  Of liburcu: qsbr,
 *                   which stands for all such clocks in what follows
 *   workers         as qsbr: a section lasts from one quiescent point of a thread with open workers
 *                   on the domain to the next; register, begin and end do nothing.  Debug builds
 *                   assert that a thread that looks (haft_scan(), a cursor, haft_pin(),
 *                   haft_require()) is online, unless no thread is
 *   frame           all of them do nothing: a section lasts from tick to tick (debug builds count)
 *
 * Threads that run jobs of a job system use haft_job_begin() and haft_job_end() instead: the same
 * calls work on every clock, and they nest.
 *
 * Sections and jobs belong to the foreign clock, not to one domain: with qsbr a quiescent point for
 * one domain is one for all.  Calls that wait, haft_worker_quiescent() among them, are made outside
 * the sections of every domain and foreign clock: two threads, each in a section of the domain that
 * the other waits for, would wait for ever.  So a thread that is online in several (with qsbr, or
 * with open workers on domains with the workers clock) goes offline in the others first.
 *
 * In a signal handler (on its thread's own stack) these are allowed: haft_section_begin,
 * haft_section_end, haft_resolve and its kin, haft_is_live, haft_diagnose.  Nothing that allocates,
 * frees, pins or waits: the handler could interrupt the same call.
 *
 *   memb, mb, bp   at any time on a registered thread, inside a section of the handler's own; other
 *                  foreign clocks with begin() if that may be called there
 *   qsbr, workers  while the thread is online.  The signal is blocked around its quiescent points,
 *                  its time offline, and all that waits, and pointers do not outlive the handler
 *   frame          the handler is one of the frame's jobs: the signal is blocked during the tick
 *
 * A thread is registered before its first section and unregistered after its last, once for each
 * foreign clock, not for each domain.  With qsbr, a thread that sleeps or blocks goes offline
 * first: while it is online, every grace period waits for its next quiescent point.
 */

/*
 * haft_thread_register, haft_thread_unregister - the calling thread begins or ends to have read
 * sections of the domain's foreign clock.  With qsbr it is online from register to unregister.
 *
 * Threads   the calling thread, in turn, outside read sections; not one that the other library's
 *           own call has registered.
 * Ordering  unregister: release towards grace periods.
 * Progress  as the foreign clock's callback (liburcu: blocking, a registry's lock).
 */
void haft_thread_register(haft_domain *domain);
void haft_thread_unregister(haft_domain *domain);

/* What haft_job_begin and haft_thread_park return, to be given back as it is. */
typedef struct haft_job_state {
    uint64_t thread;
    uint32_t level;
    uint32_t open;
} haft_job_state;

/*
 * haft_section_begin, haft_section_end - a read section of the calling thread.
 *
 * Threads   a registered thread.
 * Ordering  end: release towards grace periods.
 * Progress  as the foreign clock's callback (liburcu: wait-free).
 * Cost      a call through a pointer, and the foreign clock's.
 */
void haft_section_begin(haft_domain *domain);
void haft_section_end(haft_domain *domain);

/*
 * haft_job_begin, haft_job_end - a job of the calling thread.  What it resolves stays valid until
 * its end, on every clock, also while the thread runs other jobs inside it.
 *
 * Jobs nest.  The outermost one comes online, or begins a read section, and its end goes offline;
 * inner ones change nothing that another thread sees.  In a thread that is online without a job
 * (from haft_thread_register with qsbr, from its first worker with the workers clock) all jobs are
 * inner ones.  So a thread that only runs jobs goes offline once, or opens its first worker in a
 * job.
 *
 * In an inner job haft_worker_quiescent() only retires freed slots, and calls that wait answer
 * HAFT_IN_SECTION.  In an outermost one both void the pointers that it resolved before, on every
 * clock.
 *
 * Workers clock: a thread that closes its last worker in a job is online until that ends.  Frame
 * clock: nothing happens, but debug builds count jobs as sections.  A thread can be in jobs of 8
 * foreign clocks at once: a ninth ends the process (docs/job-systems.md).
 *
 * Returns   begin: the state before, to be given to end, the last one first.
 * Threads   a registered thread; workers clock: any.  end: the same thread, before it ends; debug
 *           builds assert it.  So the job of a fiber ends before that moves to another thread.
 * Ordering  outermost end: release towards grace periods.
 * Progress  as haft_section_begin(), or haft_thread_online() with qsbr and the workers clock, where
 *           the first job of a thread without workers allocates (docs/job-systems.md).
 * Cost      inner: a few loads and stores of the thread's own.  Outermost: as haft_section_begin(),
 *           or haft_thread_online().
 */
haft_job_state haft_job_begin(haft_domain *domain);
void haft_job_end(haft_domain *domain, haft_job_state state);

/*
 * haft_thread_park, haft_thread_unpark - before the calling thread blocks (a join, a barrier, a
 * sleep), or waits where it may be given other jobs to run, it lets go of all that it has resolved;
 * afterwards it is online, or in its job, as before.  A lock that is held for moments needs
 * neither, as long as no thread makes a call that waits while it holds that lock.  Before a long
 * park haft_worker_flush() hands over the slots that its workers hold.
 *
 * From park to unpark no grace period waits for the thread: pointers that any of its jobs resolved
 * are void.  A job that begins meanwhile is an outermost one.  A worker that is opened meanwhile
 * brings the thread online until it is closed.  Nothing happens with the frame clock, nor with the
 * workers clock in a thread without workers and jobs.
 *
 * Returns   park: the state before, to be given to unpark.
 * Threads   a registered thread, workers clock: any, outside haft_section_begin() and _end().
 *           unpark: the same thread, when all jobs that began since have ended.
 * Ordering  park: release towards grace periods.
 * Progress  as haft_thread_offline() and haft_thread_online().
 * Cost      as haft_thread_offline() and haft_thread_online().
 */
haft_job_state haft_thread_park(haft_domain *domain);
void haft_thread_unpark(haft_domain *domain, haft_job_state state);

/*
 * haft_thread_offline, haft_thread_online - with qsbr and the workers clock: no grace period waits
 * for the calling thread while it is offline, and it may not resolve.  Others: nothing happens.
 *
 * What an outer job holds is void as well: debug builds assert that no inner job goes offline
 * (haft_thread_park() does in any), and that no callback goes offline or parks, which does nothing
 * there.  In a thread that is parked, in no job that began since, both do nothing.  A worker that
 * is opened offline brings the thread online until it is closed.
 *
 * Threads   a registered thread; in turn.  Workers clock: one with an open worker (else nothing
 *           happens); the next one that it opens after the last has closed brings it online.
 * Ordering  offline: release towards grace periods.
 * Progress  wait-free, except for waking a thread that waits for this one.
 * Cost      a full fence; workers clock: one store, and one shared operation to come online;
 *           O(threads with workers) if the thread's last call was for another domain.
 */
void haft_thread_offline(haft_domain *domain);
void haft_thread_online(haft_domain *domain);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_DOMAIN_H */

/*
 * The clocks that wait for the grace periods of a foreign one: the caller clock, driven by the
 * threads that wait, and the thread clock, whose background thread waits when enough is requested.
 *
 * One thread drives at a time.  Tickets would allow several drivers, but with some foreign clocks
 * overlapping waits slow each other down.
 *
 * The thread clock sleeps on a semaphore.  Posting never blocks, so retiring stays lock-free; one
 * ticket in TICKETS_PER_WAKE posts, each allocation failure, and each hand-over of a table with
 * on_reclaim or pins.  Fewer tickets than that may wait for long: no thread is short of their
 * slots.
 *
 * Edges in this file.
 *   WAKE   hurry (release) -> sleep_until_woken (acquire)   a ticket before the look at tickets
 *   OWN    before the thread starts
 *   HINT   the stop flag: the semaphore's post orders it
 */
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/clock.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/foreign.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/clock/jobs_and_parks.h"
#include "concurrent/clock/measure.h"
#include "concurrent/clock/stall.h"
#include "lib/base/compiler.h"
#include "lib/base/pause.h"
#include "lib/base/text.h"
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#define MOST_CLOCKS 8 /* in which a thread may have jobs at once */

/*
 * The nesting states of the calling thread.  They belong to foreign clocks, which ctx tells apart,
 * not to domains.  One without open jobs may serve another clock next, since inside() knows the
 * rest.
 */
static THREAD_LOCAL struct {
    const void *ctx;
    struct nesting nesting;
} nestings[MOST_CLOCKS];

static bool is_in_use(const struct nesting *nesting)
{
    return nesting->open != 0 || nesting->is_lifted;
}

/* The calling thread's; NULL if it has jobs in MOST_CLOCKS others. */
static struct nesting *find_nesting(const void *ctx)
{
    int unused = MOST_CLOCKS;

    for (int i = 0; i < MOST_CLOCKS; i++) {
        if (nestings[i].ctx == ctx) {
            return &nestings[i].nesting;
        }
        unused = is_in_use(&nestings[i].nesting) ? unused : i;
    }
    if (unused == MOST_CLOCKS) {
        return NULL;
    }
    nestings[unused].ctx = ctx;
    nestings[unused].nesting = (struct nesting){.level = 0};
    return &nestings[unused].nesting;
}

/*
 * A job without a nesting state would pass for an outermost one, and a parked thread could not come
 * online again: the program cannot go on.
 */
static _Noreturn void too_many_clocks(void)
{
    os_print("a thread begins a job of a ninth foreign clock, or parks: 8 at once at most");
    abort();
}

static haft_status foreign_clock_start(haft_domain *domain)
{
    os_mutex_open(&domain->driver.lock);
    os_condition_open(&domain->driver.finished);
    return HAFT_OK;
}

static void foreign_clock_stop(haft_domain *domain, bool is_forked)
{
    if (is_forked) {
        return;
    }
    os_condition_close(&domain->driver.finished);
    os_mutex_close(&domain->driver.lock);
}

/* Wait one grace period, for all tickets requested before.  The caller is the only driver. */
static void drive(haft_domain *domain)
{
    const uint64_t ticket = domain_requested(domain);

    for (uint64_t turn = 0; !measure_begin(&domain->measure, domain_done(domain)); turn++) {
        pause_in_turn(turn); /* another thread holds the measure's lock for moments */
    }
    foreign_wait(&domain->foreign);
    domain_end_grace(domain, ticket);
}

/* Wait until the driver has finished, or it is time to look for a stall. */
static void await_driver(haft_domain *domain)
{
    struct foreign_driver *driver = &domain->driver;

    if (!os_condition_wait(&driver->finished, &driver->lock, os_now_ns() + domain->stall_ns)) {
        os_mutex_unlock(&driver->lock);
        domain_notice_stall(domain);
        os_mutex_lock(&driver->lock);
    }
}

/* Drive, or wait for the driver.  The caller has the lock. */
static void drive_or_await(haft_domain *domain)
{
    struct foreign_driver *driver = &domain->driver;

    if (driver->is_driving) {
        await_driver(domain);
        return;
    }
    driver->is_driving = true;
    os_mutex_unlock(&driver->lock);
    drive(domain);
    os_mutex_lock(&driver->lock);
    driver->is_driving = false;
    os_condition_wake_all(&driver->finished);
}

/* Brought up to date: a thread may have come online or gone offline without haft. */
static struct nesting *foreign_clock_nesting(haft_domain *domain, bool wanted)
{
    struct nesting *nesting = find_nesting(domain->foreign.ctx);

    if (nesting == NULL && wanted) {
        too_many_clocks();
    }
    if (nesting != NULL && foreign_has_online(&domain->foreign)) {
        const int32_t least = nesting->level > 1 ? nesting->level : 1;
        const int32_t most = nesting->level < 0 ? nesting->level : 0;

        nesting->level = foreign_is_inside(&domain->foreign) ? least : most;
    }
    return nesting;
}

/* The calling thread leaves its outermost job, or comes back into it. */
static void reader_leaves(haft_domain *domain)
{
    if (foreign_has_online(&domain->foreign)) {
        foreign_go_offline(&domain->foreign);
    } else {
        foreign_end(&domain->foreign);
    }
}

static void reader_enters(haft_domain *domain)
{
    if (foreign_has_online(&domain->foreign)) {
        foreign_go_online(&domain->foreign);
    } else {
        foreign_begin(&domain->foreign);
    }
}

static void foreign_clock_settle(haft_domain *domain, struct nesting *nesting, int32_t before)
{
    if (before <= 0 && nesting->level > 0) {
        assert(foreign_thread_is_registered(&domain->foreign) &&
               "haft_thread_register comes first");
        reader_enters(domain);
    } else if (before > 0 && nesting->level <= 0) {
        reader_leaves(domain);
    }
}

static int32_t level_in(const haft_domain *domain)
{
    const struct nesting *nesting = find_nesting(domain->foreign.ctx);

    return nesting != NULL ? nesting->level : 0;
}

static bool foreign_clock_in_section(const haft_domain *domain)
{
    const haft_foreign_clock *foreign = &domain->foreign;
    const int32_t level = level_in(domain);

    if (foreign_has_online(foreign)) {
        return level > 1 && foreign_is_inside(foreign);
    }
    if (level > 1 || !foreign_is_inside(foreign)) {
        return level > 1;
    }
    if (level <= 0) {
        return true;
    }
    /* Sections nest, and one is the job's: without it, is there another? */
    foreign_end(foreign);
    const bool found = foreign_is_inside(foreign);

    foreign_begin(foreign);
    return found;
}

/* Before and after the calling thread blocks, in its outermost job or in none. */
static bool foreign_clock_pause(haft_domain *domain)
{
    const bool holds = foreign_has_online(&domain->foreign) ? foreign_is_inside(&domain->foreign)
                                                            : level_in(domain) > 0;

    if (holds) {
        reader_leaves(domain);
    }
    return holds;
}

static void foreign_clock_resume(haft_domain *domain, bool held)
{
    if (held) {
        reader_enters(domain);
    }
}

static haft_status foreign_clock_wait_for(haft_domain *domain, uint64_t ticket)
{
    const bool held = foreign_clock_pause(domain);

    os_mutex_lock(&domain->driver.lock);
    while (domain_done(domain) < ticket) {
        drive_or_await(domain);
    }
    os_mutex_unlock(&domain->driver.lock);
    foreign_clock_resume(domain, held);
    return HAFT_OK;
}

/* Whether the calling thread may come online, and is not: else a worker leaves it as it is. */
static bool may_lift(const haft_foreign_clock *foreign)
{
    return foreign_has_online(foreign) && foreign->is_registered != NULL &&
           foreign->is_registered(foreign->ctx) && !foreign_is_inside(foreign);
}

static haft_status foreign_clock_join(haft_domain *domain, haft_worker *worker,
                                      struct member **member, uint32_t *lift)
{
    const bool comes_online = may_lift(&domain->foreign);
    struct nesting *nesting =
        foreign_has_online(&domain->foreign) ? foreign_clock_nesting(domain, comes_online) : NULL;

    (void)worker;
    (void)member;
    if (comes_online || (nesting != NULL && nesting->is_lifted)) {
        const int32_t before = nesting->level;

        *lift = lift_join(nesting);
        foreign_clock_settle(domain, nesting, before);
    }
    return HAFT_OK;
}

static void foreign_clock_leave(haft_domain *domain, haft_worker *worker, struct member *member,
                                uint32_t lift)
{
    struct nesting *nesting = lift != 0 ? foreign_clock_nesting(domain, false) : NULL;

    (void)worker;
    (void)member;
    if (nesting != NULL) {
        const int32_t before = nesting->level;

        lift_leave(nesting, lift);
        foreign_clock_settle(domain, nesting, before);
    }
}

static void foreign_clock_quiescent(haft_domain *domain, struct member *member, bool eager)
{
    (void)member;
    (void)eager;
    foreign_quiescent(&domain->foreign);
}

/* Whatever jobs have begun; a clock without online() has nothing to go offline from. */
static void foreign_clock_offline(haft_domain *domain)
{
    /* In an inner job, the outer job's pointers would be void. */
    assert(!foreign_has_online(&domain->foreign) || !foreign_clock_in_section(domain));
    foreign_go_offline(&domain->foreign);
}

/* A thread that is parked stays so. */
static void foreign_clock_online(haft_domain *domain)
{
    struct nesting *nesting = foreign_clock_nesting(domain, false);

    if (nesting != NULL) {
        lift_keep(nesting);
    }
    if (level_in(domain) != PARKED) {
        foreign_go_online(&domain->foreign);
    }
}

static void foreign_clock_advise(const haft_domain *domain, const haft_stall *stall,
                                 struct text *text)
{
    (void)stall;
    if (foreign_has_online(&domain->foreign)) {
        text_add(text,
                 "a thread is online and passes no quiescent point (haft_worker_quiescent, or "
                 "haft_thread_park before it blocks)");
    } else {
        text_add(text, "a read section or job has begun and does not end (haft_section_end, "
                       "haft_job_end, or haft_thread_park before the job blocks)");
    }
}

/* --- the thread clock's thread --- */

static void sleep_until_woken(struct thread_clock *clock)
{
    os_semaphore_wait(&clock->wake);
    /* Weakened, this thread could miss the ticket of a thread that found it woken. */
    exchange_acq_rel(WAKE, &clock->woken, 0);
}

static void drive_until_stopped(void *arg)
{
    haft_domain *domain = arg;

    for (;;) {
        sleep_until_woken(&domain->thread);
        if (load_relaxed(HINT, &domain->thread.stopping) != 0) {
            return;
        }
        domain_wait(domain);
    }
}

static haft_status thread_start(haft_domain *domain)
{
    store_relaxed(OWN, &domain->thread.stopping, 0);
    store_relaxed(OWN, &domain->thread.woken, 0);
    if (!os_semaphore_open(&domain->thread.wake)) {
        return HAFT_NO_THREAD;
    }
    foreign_clock_start(domain);
    if (!os_thread_start(&domain->thread.thread, drive_until_stopped, domain)) {
        foreign_clock_stop(domain, false);
        os_semaphore_close(&domain->thread.wake);
        return HAFT_NO_THREAD;
    }
    return HAFT_OK;
}

static void thread_stop(haft_domain *domain, bool is_forked)
{
    if (is_forked) {
        return;
    }
    /* The thread's last grace period may wait for this one. */
    const bool held = foreign_clock_pause(domain);

    store_relaxed(HINT, &domain->thread.stopping, 1);
    os_semaphore_post(&domain->thread.wake);
    os_thread_join(&domain->thread.thread);
    os_semaphore_close(&domain->thread.wake);
    foreign_clock_stop(domain, false);
    foreign_clock_resume(domain, held);
}

static void hurry(haft_domain *domain)
{
    if (exchange_acq_rel(WAKE, &domain->thread.woken, 1) == 0) {
        os_semaphore_post(&domain->thread.wake);
    }
}

static void requested(haft_domain *domain, uint64_t ticket)
{
    if (ticket % TICKETS_PER_WAKE == 0) {
        hurry(domain);
    }
}

/* --- both --- */

#define FOREIGN_MEMBERS                                                                            \
    .is_foreign = true, .wait_for = foreign_clock_wait_for, .join = foreign_clock_join,            \
    .leave = foreign_clock_leave, .quiescent = foreign_clock_quiescent,                            \
    .offline = foreign_clock_offline, .online = foreign_clock_online,                              \
    .nesting = foreign_clock_nesting, .settle = foreign_clock_settle,                              \
    .in_section = foreign_clock_in_section, .advise = foreign_clock_advise

const struct clock caller_clock = {
    .name = "caller",
    .start = foreign_clock_start,
    .stop = foreign_clock_stop,
    FOREIGN_MEMBERS,
};

const struct clock thread_clock = {
    .name = "thread",
    .start = thread_start,
    .stop = thread_stop,
    .requested = requested,
    .handed = hurry,
    .hurry = hurry,
    FOREIGN_MEMBERS,
};

/*
 * The thread clock: a background thread that drives grace periods when enough are requested.
 *
 * It sleeps on a semaphore.  Posting never blocks, so retiring stays lock-free; one ticket in
 * TICKETS_PER_WAKE posts, each allocation failure, and each hand-over of a table with on_reclaim or
 * pins.  Fewer tickets than that may wait for long: no thread is short of their slots.
 *
 * Edges in this file.
 *   WAKE   hurry (release) -> sleep_until_woken (acquire)   a ticket before the look at tickets
 *   OWN    before the thread starts
 *   HINT   the stop flag: the semaphore's post orders it
 */
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/clock.h"
#include "concurrent/clock/clock_foreign.h"
#include "concurrent/clock/domain.h"
#include <stddef.h>

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

const struct clock thread_clock = {
    .name = "thread",
    .is_foreign = true,
    .start = thread_start,
    .stop = thread_stop,
    .requested = requested,
    .handed = hurry,
    .hurry = hurry,
    .wait_for = foreign_clock_wait_for,
    .join = foreign_clock_join,
    .leave = foreign_clock_leave,
    .quiescent = foreign_clock_quiescent,
    .offline = foreign_clock_offline,
    .online = foreign_clock_online,
    .nesting = foreign_clock_nesting,
    .settle = foreign_clock_settle,
    .in_section = foreign_clock_in_section,
    .advise = foreign_clock_advise,
};

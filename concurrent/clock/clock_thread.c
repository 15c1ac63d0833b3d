/*
 * The thread clock: a background thread that drives grace periods when enough are requested.
 *
 * It sleeps on a semaphore.  Posting never blocks, so retiring stays lock-free; one ticket in
 * TICKETS_PER_WAKE posts, and each shortage.  Fewer tickets than that may wait for long: no thread
 * is short of their slots.
 *
 * Edges in this file.
 *   WAKE   hurry (release) -> sleep_until_woken (acquire)   a ticket before the look at tickets
 *   OWN    before the thread starts
 *   HINT   the stop flag: the semaphore's post orders it
 */
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/clock.h"
#include "concurrent/clock/clock_rcu.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/rcu.h"
#include <stddef.h>

static void sleep_until_woken(struct thread_clock *clock)
{
    os_semaphore_wait(&clock->wake);
    /* Weakened, the thread could miss the ticket of one that found it woken already. */
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
    rcu_clock_start(domain);
    if (!os_thread_start(&domain->thread.thread, drive_until_stopped, domain)) {
        rcu_clock_stop(domain);
        os_semaphore_close(&domain->thread.wake);
        return HAFT_NO_THREAD;
    }
    return HAFT_OK;
}

static void thread_stop(haft_domain *domain)
{
    /* The thread's last grace period may wait for this one. */
    const bool held = rcu_clock_pause(domain);

    store_relaxed(HINT, &domain->thread.stopping, 1);
    os_semaphore_post(&domain->thread.wake);
    os_thread_join(&domain->thread.thread);
    os_semaphore_close(&domain->thread.wake);
    rcu_clock_stop(domain);
    rcu_clock_resume(domain, held);
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
    .has_flavour = true,
    .start = thread_start,
    .stop = thread_stop,
    .requested = requested,
    .hurry = hurry,
    .wait_for = rcu_clock_wait_for,
    .quiescent = rcu_clock_quiescent,
    .offline = rcu_clock_offline,
    .online = rcu_clock_online,
    .standing = rcu_clock_standing,
    .settle = rcu_clock_settle,
    .in_section = rcu_clock_in_section,
    .advise = rcu_clock_advise,
    .after_fork = rcu_clock_after_fork,
};

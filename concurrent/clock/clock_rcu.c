/*
 * What the clocks of liburcu's flavours have in common: how a grace period is waited for.
 *
 * One thread drives at a time.  The tickets would allow for more, but waits that overlap inside
 * liburcu 0.13 can cost each of them 10 ms: who follows in its queue may sleep that long.
 */
#include "concurrent/clock/domain.h"
#include "concurrent/clock/rcu.h"
#include <errno.h>
#include <stddef.h>
#include <time.h>

void rcu_clock_start(haft_domain *domain)
{
    pthread_condattr_t monotonic;

    pthread_mutex_init(&domain->rcu.lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&domain->rcu.driver_finished, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void rcu_clock_stop(haft_domain *domain)
{
    pthread_cond_destroy(&domain->rcu.driver_finished);
    pthread_mutex_destroy(&domain->rcu.lock);
}

/* One grace period, for all that was requested before.  The caller is the only driver. */
static void drive(haft_domain *domain)
{
    const uint64_t ticket = domain_requested(domain);

    domain_begin_grace(domain);
    rcu_wait(domain->flavour);
    domain_end_grace(domain, ticket);
}

/* Wait until the one that drives has finished, or it is time to look for a stall. */
static void await_driver(haft_domain *domain)
{
    const uint64_t until = now_ns() + domain->stall_ns;
    const struct timespec time = {(time_t)(until / NS_PER_S), (long)(until % NS_PER_S)};
    struct rcu_clock *rcu = &domain->rcu;

    if (pthread_cond_timedwait(&rcu->driver_finished, &rcu->lock, &time) == ETIMEDOUT) {
        pthread_mutex_unlock(&rcu->lock);
        domain_notice_stall(domain);
        pthread_mutex_lock(&rcu->lock);
    }
}

/* Drive, or wait for the one that does.  The caller has the lock. */
static void drive_or_await(haft_domain *domain)
{
    struct rcu_clock *rcu = &domain->rcu;

    if (rcu->has_driver) {
        await_driver(domain);
        return;
    }
    rcu->has_driver = true;
    pthread_mutex_unlock(&rcu->lock);
    drive(domain);
    pthread_mutex_lock(&rcu->lock);
    rcu->has_driver = false;
    pthread_cond_broadcast(&rcu->driver_finished);
}

haft_status rcu_clock_wait_for(haft_domain *domain, uint64_t ticket)
{
    const bool was_online = rcu_pause(domain->flavour);

    pthread_mutex_lock(&domain->rcu.lock);
    while (domain_done(domain) < ticket) {
        drive_or_await(domain);
    }
    pthread_mutex_unlock(&domain->rcu.lock);
    rcu_resume(domain->flavour, was_online);
    return HAFT_OK;
}

void rcu_clock_quiescent(haft_domain *domain, struct member *member, uint64_t backlog)
{
    (void)member;
    (void)backlog;
    rcu_quiescent(domain->flavour);
}

/* What others have left of the lock and the condition is not looked at. */
const struct clock *rcu_clock_after_fork(haft_domain *domain)
{
    if (!rcu_forgets(domain->flavour)) {
        domain->flavour = NULL;
        return &frame_clock;
    }
    rcu_clock_start(domain);
    domain->rcu.has_driver = false;
    return &caller_clock;
}

void rcu_clock_offline(haft_domain *domain)
{
    rcu_offline(domain->flavour);
}

void rcu_clock_online(haft_domain *domain)
{
    rcu_online(domain->flavour);
}

/*
 * What the clocks of liburcu's flavours have in common: how a grace period is waited for.
 *
 * One thread drives at a time.  The tickets would allow for more, but waits that overlap inside
 * liburcu 0.13 can cost each of them 10 ms: who follows in its queue may sleep that long.
 */
#include "concurrent/clock/clock_rcu.h"
#include "concurrent/clock/clock.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/measure.h"
#include "concurrent/clock/rcu.h"
#include "concurrent/clock/stall.h"
#include "concurrent/clock/tickets.h"
#include "lib/base/text.h"
#include <assert.h>
#include <stddef.h>

/* Of the calling thread, by flavour_number: they belong to flavours, not to domains. */
static _Thread_local struct standing standings[RCU_FLAVOURS];

void rcu_clock_start(haft_domain *domain)
{
    domain->flavour_number = rcu_number(domain->flavour);
    os_mutex_open(&domain->rcu.lock);
    os_condition_open(&domain->rcu.driver_finished);
}

void rcu_clock_stop(haft_domain *domain)
{
    os_condition_close(&domain->rcu.driver_finished);
    os_mutex_close(&domain->rcu.lock);
}

/* One grace period, for all that was requested before.  The caller is the only driver. */
static void drive(haft_domain *domain)
{
    const uint64_t ticket = domain_requested(domain);

    domain_begin_grace(domain, domain_done(domain));
    rcu_wait(domain->flavour);
    domain_end_grace(domain, ticket);
}

/* Wait until the one that drives has finished, or it is time to look for a stall. */
static void await_driver(haft_domain *domain)
{
    struct rcu_clock *rcu = &domain->rcu;

    if (!os_condition_wait(&rcu->driver_finished, &rcu->lock, os_now_ns() + domain->stall_ns)) {
        os_mutex_unlock(&rcu->lock);
        domain_notice_stall(domain);
        os_mutex_lock(&rcu->lock);
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
    os_mutex_unlock(&rcu->lock);
    drive(domain);
    os_mutex_lock(&rcu->lock);
    rcu->has_driver = false;
    os_condition_wake_all(&rcu->driver_finished);
}

/* As liburcu has it now: with qsbr a thread may have come online or gone offline without haft. */
struct standing *rcu_clock_standing(haft_domain *domain, bool wanted)
{
    struct standing *standing = &standings[domain->flavour_number];

    (void)wanted;
    if (rcu_is_qsbr(domain->flavour)) {
        const uint32_t least = standing->level > 1 ? standing->level : 1;

        standing->level = rcu_is_inside(domain->flavour) ? least : 0;
    }
    return standing;
}

/* From the calling thread's outermost job to its outside, or back. */
static void reader_leaves(haft_domain *domain)
{
    if (rcu_is_qsbr(domain->flavour)) {
        rcu_offline(domain->flavour);
    } else {
        rcu_section_end(domain->flavour);
    }
}

static void reader_enters(haft_domain *domain)
{
    if (rcu_is_qsbr(domain->flavour)) {
        rcu_online(domain->flavour);
    } else {
        rcu_section_begin(domain->flavour);
    }
}

void rcu_clock_settle(haft_domain *domain, struct standing *standing, uint32_t before)
{
    if (before == 0 && standing->level != 0) {
        assert(rcu_is_registered(domain->flavour)); /* the thread: see haft_thread_register() */
        reader_enters(domain);
    } else if (before != 0 && standing->level == 0) {
        reader_leaves(domain);
    }
}

bool rcu_clock_in_section(const haft_domain *domain)
{
    const struct rcu_flavor_struct *flavour = domain->flavour;
    const uint32_t level = standings[domain->flavour_number].level;

    if (!rcu_is_inside(flavour)) {
        return false;
    }
    if (level != 1 || rcu_is_qsbr(flavour)) {
        return level > 1 || !rcu_is_qsbr(flavour);
    }
    /* Sections nest, and one is the job's: without it, is there another? */
    rcu_section_end(flavour);
    const bool found = rcu_is_inside(flavour);

    rcu_section_begin(flavour);
    return found;
}

/* Before and after the calling thread blocks, in its outermost job or in none. */
bool rcu_clock_pause(haft_domain *domain)
{
    const bool holds = rcu_clock_standing(domain, false)->level != 0;

    if (holds) {
        reader_leaves(domain);
    }
    return holds;
}

void rcu_clock_resume(haft_domain *domain, bool held)
{
    if (held) {
        reader_enters(domain);
    }
}

haft_status rcu_clock_wait_for(haft_domain *domain, uint64_t ticket)
{
    const bool held = rcu_clock_pause(domain);

    os_mutex_lock(&domain->rcu.lock);
    while (domain_done(domain) < ticket) {
        drive_or_await(domain);
    }
    os_mutex_unlock(&domain->rcu.lock);
    rcu_clock_resume(domain, held);
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
        /* Its jobs end with the frame clock. */
        standings[domain->flavour_number] = (struct standing){0, 0};
        domain->flavour = NULL;
        return &frame_clock;
    }
    rcu_clock_start(domain);
    domain->rcu.has_driver = false;
    return &caller_clock;
}

/* Absolute, and with qsbr alone: the others have nothing to go offline from. */
void rcu_clock_offline(haft_domain *domain)
{
    assert(rcu_clock_standing(domain, false)->level < 2 || !rcu_is_qsbr(domain->flavour));
    rcu_offline(domain->flavour);
}

void rcu_clock_online(haft_domain *domain)
{
    rcu_online(domain->flavour);
}

void rcu_clock_advise(const haft_domain *domain, const haft_stall *stall, struct text *text)
{
    (void)stall;
    if (rcu_is_qsbr(domain->flavour)) {
        text_add(text,
                 "a thread is online and passes no quiescent point (haft_worker_quiescent, or "
                 "haft_thread_park before it blocks)");
    } else {
        text_add(text, "a read section or job has begun and does not end (haft_section_end, "
                       "haft_job_end, or haft_thread_park before the job blocks)");
    }
}

/*
 * The frame clock: a grace period is what lies between two ticks.  Only the program knows that no
 * section is open, so nobody but haft_domain_tick() drives, and nobody waits.
 */
#include "concurrent/debug.h"
#include "concurrent/domain.h"
#include <assert.h>
#include <stddef.h>

static haft_status start(haft_domain *domain)
{
    (void)domain;
    return HAFT_OK;
}

static void do_nothing(haft_domain *domain)
{
    (void)domain;
}

static void requested(haft_domain *domain, uint64_t ticket)
{
    (void)domain;
    (void)ticket;
}

static haft_status wait_for(haft_domain *domain, uint64_t ticket)
{
    (void)domain;
    (void)ticket;
    return HAFT_BUSY; /* the tick that would end the wait may be the caller's own */
}

static haft_status join(haft_domain *domain, haft_worker *worker, struct member **member)
{
    (void)domain;
    (void)worker;
    *member = NULL;
    return HAFT_OK;
}

static void leave(haft_domain *domain, haft_worker *worker, struct member *member)
{
    (void)domain;
    (void)worker;
    (void)member;
}

static bool may_leave(const struct member *member)
{
    (void)member;
    return true;
}

static void quiescent(haft_domain *domain, struct member *member, uint64_t backlog)
{
    (void)domain;
    (void)member;
    (void)backlog;
}

static void blame(const haft_domain *domain, haft_stall *stall)
{
    (void)domain;
    (void)stall;
}

haft_status haft_domain_tick(haft_domain *domain)
{
    if (domain->clock != &frame_clock) {
        return HAFT_WRONG_CLOCK;
    }
    assert(debug_sections(domain) == 0); /* a section is open during the tick */
    domain_end_grace(domain, domain_requested(domain));
    assert(debug_sections(domain) == 0);
    return HAFT_OK;
}

const struct clock frame_clock = {
    .has_flavour = false,
    .start = start,
    .stop = do_nothing,
    .requested = requested,
    .hurry = do_nothing,
    .wait_for = wait_for,
    .join = join,
    .leave = leave,
    .may_leave = may_leave,
    .quiescent = quiescent,
    .offline = do_nothing,
    .online = do_nothing,
    .blame = blame,
};

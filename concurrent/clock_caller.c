/* The caller clock: nobody drives but those who wait. */
#include "concurrent/clock.h"

static haft_status start(haft_domain *domain)
{
    rcu_clock_start(domain);
    return HAFT_OK;
}

static void requested(haft_domain *domain, uint64_t ticket)
{
    (void)domain;
    (void)ticket;
}

static void hurry(haft_domain *domain)
{
    (void)domain;
}

const struct clock caller_clock = {
    .has_flavour = true,
    .start = start,
    .stop = rcu_clock_stop,
    .requested = requested,
    .hurry = hurry,
    .wait_for = rcu_clock_wait_for,
    .join = rcu_clock_join,
    .leave = rcu_clock_leave,
    .may_leave = rcu_clock_may_leave,
    .quiescent = rcu_clock_quiescent,
    .offline = rcu_clock_offline,
    .online = rcu_clock_online,
    .blame = rcu_clock_blame,
};

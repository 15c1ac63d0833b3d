/* The caller clock: nobody drives but those who wait. */
#include "concurrent/clock/clock.h"

static haft_status start(haft_domain *domain)
{
    rcu_clock_start(domain);
    return HAFT_OK;
}

const struct clock caller_clock = {
    .name = "caller",
    .has_flavour = true,
    .start = start,
    .stop = rcu_clock_stop,
    .requested = clock_ignore_ticket,
    .hurry = clock_ignore,
    .wait_for = rcu_clock_wait_for,
    .join = clock_join_none,
    .leave = clock_leave_none,
    .may_leave = clock_may_leave_none,
    .quiescent = rcu_clock_quiescent,
    .offline = rcu_clock_offline,
    .online = rcu_clock_online,
    .blame = clock_blame_none,
    .after_fork = rcu_clock_after_fork,
};

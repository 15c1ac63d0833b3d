/* The caller clock: driven by the threads that wait. */
#include "concurrent/clock/clock.h"
#include "concurrent/clock/clock_rcu.h"

static haft_status caller_start(haft_domain *domain)
{
    rcu_clock_start(domain);
    return HAFT_OK;
}

const struct clock caller_clock = {
    .name = "caller",
    .has_flavour = true,
    .start = caller_start,
    .stop = rcu_clock_stop,
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

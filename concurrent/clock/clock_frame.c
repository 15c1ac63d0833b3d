/*
 * The frame clock: a grace period is the time between two ticks.  Only the program knows that no
 * section is open, so only haft_domain_tick() drives it, and no thread waits.
 */
#include "concurrent/clock/callback.h"
#include "concurrent/clock/clock.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/clock/section_count.h"
#include <assert.h>

static haft_status frame_wait_for(haft_domain *domain, uint64_t ticket)
{
    (void)domain;
    (void)ticket;
    return HAFT_BUSY; /* the tick that would end the wait may be the caller's own */
}

/* In the child of a fork, sections of threads that are gone stay counted. */
static HAFT_UNUSED bool no_section_is_open(const haft_domain *domain)
{
    return sections_open(domain) == 0 || domain_check_process(domain) != HAFT_OK;
}

haft_status haft_domain_tick(haft_domain *domain)
{
    if (domain->clock != &frame_clock) {
        return HAFT_WRONG_CLOCK;
    }
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    assert(no_section_is_open(domain) && "sections end before the tick");
    domain_end_grace(domain, domain_requested(domain));
    assert(no_section_is_open(domain) && "no section begins during the tick");
    return HAFT_OK;
}

const struct clock frame_clock = {
    .name = "frame",
    .is_foreign = false,
    .wait_for = frame_wait_for,
};

/* The caller clock: nobody drives but those who wait. */
#include "concurrent/clock.h"

static haft_status start(haft_domain *domain)
{
    (void)domain;
    return HAFT_OK;
}

static void stop(haft_domain *domain)
{
    (void)domain;
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

const struct clock caller_clock = {start, stop, requested, hurry};

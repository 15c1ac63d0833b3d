/* What a clock has no use for: members, tickets that call for nothing, nobody to blame. */
#include "concurrent/clock/clock.h"
#include <stddef.h>

void clock_ignore_ticket(haft_domain *domain, uint64_t ticket)
{
    (void)domain;
    (void)ticket;
}

void clock_ignore(haft_domain *domain)
{
    (void)domain;
}

haft_status clock_join_none(haft_domain *domain, haft_worker *worker, struct member **member)
{
    (void)domain;
    (void)worker;
    *member = NULL;
    return HAFT_OK;
}

void clock_leave_none(haft_domain *domain, haft_worker *worker, struct member *member)
{
    (void)domain;
    (void)worker;
    (void)member;
}

bool clock_may_leave_none(const struct member *member)
{
    (void)member;
    return true;
}

void clock_blame_none(const haft_domain *domain, haft_stall *stall)
{
    (void)domain;
    (void)stall;
}

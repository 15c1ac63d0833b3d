/*
 * Tickets and the ends of grace periods, which clock_workers.c, clock_frame.c and clock_foreign.c
 * find.
 *
 * Edges in this file.
 *   TICKET   domain_ticket (release)    -> domain_requested (acquire)   frees before the wait
 *   ELAPSED  domain_end_grace (release) -> domain_done (acquire)        the wait before reuse
 *   COUNT    statistics
 *   RETRY    a first look; the compare-and-swap decides
 */
#include "concurrent/clock/grace_periods.h"
#include "concurrent/clock/measure.h"

uint64_t domain_ticket(haft_domain *domain)
{
    /* Weakened, a driver could begin its wait before the frees that this ticket stands for. */
    const uint64_t ticket = fetch_add_release(TICKET, &domain->requested, 1) + 1;

    if (domain->clock->requested != NULL) {
        domain->clock->requested(domain, ticket);
    }
    return ticket;
}

uint64_t domain_requested(const haft_domain *domain)
{
    return load_acquire(TICKET, &domain->requested);
}

uint64_t domain_done(const haft_domain *domain)
{
    /* Weakened, a slot could be written again before its last readers' reads. */
    return load_acquire(ELAPSED, &domain->done);
}

uint64_t domain_backlog(const haft_domain *domain)
{
    /* In this order: `done` never runs ahead of what `requested` is read as. */
    const uint64_t done = load_acquire(ELAPSED, &domain->done);
    const uint64_t requested = load_relaxed(COUNT, &domain->requested);

    return requested > done ? requested - done : 0;
}

/*
 * Mark the tickets up to `ticket` as done; a driver beside this one may have gone further.  False
 * if they were done already.  `since`: when the wait was noticed; 0: it was not.
 */
static bool finish(haft_domain *domain, uint64_t ticket, uint64_t *since)
{
    uint64_t before = load_relaxed(RETRY, &domain->done);

    while (before < ticket) {
        /* While `done` stands there, its measure stays. */
        if (measure_read(&domain->measure, since) != before + 1) {
            *since = 0;
        }
        /* Weakened, a slot could be written again before its last readers' reads. */
        if (cas_release(ELAPSED, &domain->done, before, ticket)) {
            return true;
        }
        before = load_relaxed(RETRY, &domain->done);
    }
    return false;
}

void domain_end_grace(haft_domain *domain, uint64_t ticket)
{
    uint64_t since;

    if (!finish(domain, ticket, &since)) {
        return;
    }
    fetch_add_relaxed(COUNT, &domain->grace_periods, 1);
    const uint64_t lasted = since != 0 ? os_now_ns() - since : 0;
    uint64_t longest = load_relaxed(COUNT, &domain->longest_ns);

    while (longest < lasted && !cas_relaxed(COUNT, &domain->longest_ns, longest, lasted)) {
        longest = load_relaxed(COUNT, &domain->longest_ns); /* of another driver's */
    }
}

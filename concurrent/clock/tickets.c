/*
 * Tickets and the ends of grace periods.
 *
 * Edges in this file.
 *   TICKET   domain_ticket (release)    -> domain_requested (acquire)   frees before the wait
 *   ELAPSED  domain_end_grace (release) -> domain_done (acquire)        the wait before reuse
 *   COUNT    statistics
 *   RETRY    a first look; the compare-and-swap decides
 */
#include "concurrent/clock/tickets.h"
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
 * Mark the tickets up to `ticket` as done; a driver beside this one may have gone further.  Returns
 * the highest ticket done before, or `ticket` if that was done already.
 */
static uint64_t finish(haft_domain *domain, uint64_t ticket)
{
    uint64_t before = load_relaxed(RETRY, &domain->done);

    while (before < ticket) {
        /* Weakened, a slot could be written again before its last readers' reads. */
        if (cas_release(ELAPSED, &domain->done, before, ticket)) {
            return before;
        }
        before = load_relaxed(RETRY, &domain->done);
    }
    return ticket;
}

void domain_end_grace(haft_domain *domain, uint64_t ticket)
{
    const uint64_t before = finish(domain, ticket);

    if (before == ticket) {
        return;
    }
    fetch_add_relaxed(COUNT, &domain->grace_periods, 1);
    const uint64_t lasted = measure_lasted(&domain->measure, before);
    uint64_t longest = load_relaxed(COUNT, &domain->longest_ns);

    while (longest < lasted && !cas_relaxed(COUNT, &domain->longest_ns, longest, lasted)) {
        longest = load_relaxed(COUNT, &domain->longest_ns); /* of another driver's */
    }
}

/*
 * concurrent/clock/grace_periods.h - when a grace period has ended: the ticket clock.
 *
 * Message passing without fences.  `requested` counts tickets taken, `done` the tickets whose
 * grace period has passed:
 *
 *   retiring   the frees of a batch; ticket = requested + 1                       (TICKET)
 *   driving    s = requested; one full grace period; done = max(done, s)          (ELAPSED)
 *   reusing    the batch may be reused when done >= ticket
 *
 * The ticket is taken after the last free of its batch, and s is read before the wait begins,
 * so a driver that covers a ticket began to wait after the frees.
 */
#ifndef HAFT_CONCURRENT_GRACE_PERIODS_H
#define HAFT_CONCURRENT_GRACE_PERIODS_H

#include "concurrent/clock/state.h"

/* A ticket for the calling thread's frees so far.  Lock-free. */
uint64_t domain_ticket(haft_domain *domain);

/* All tickets taken so far: the frees that they stand for come before the caller's next step. */
uint64_t domain_requested(const haft_domain *domain);

/* The highest ticket whose grace period has passed.  Wait-free. */
uint64_t domain_done(const haft_domain *domain);

/* Tickets requested and not done.  Wait-free. */
uint64_t domain_backlog(const haft_domain *domain);

/*
 * A wait for a grace period has ended, with all tickets up to `ticket` done; it began with
 * measure_begin(), which has it watched for stalls.  Several threads may end the same wait.
 */
void domain_end_grace(haft_domain *domain, uint64_t ticket);

#endif /* HAFT_CONCURRENT_GRACE_PERIODS_H */

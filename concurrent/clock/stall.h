/*
 * concurrent/clock/stall.h - grace periods that last too long, and their report.
 */
#ifndef HAFT_CONCURRENT_STALL_H
#define HAFT_CONCURRENT_STALL_H

#include <haft/domain.h>
#include <stdbool.h>

/*
 * Whether a grace period is under way: a thread drives it, or some workers have not announced
 * themselves yet.  Wait-free; a hint.
 */
bool domain_is_driven(const haft_domain *domain);

/*
 * How long the grace period that is under way has been waited for, and the ticket that waits; 0:
 * none is.  Lock-free.
 */
uint64_t domain_waited_ns(haft_domain *domain, uint64_t *ticket);

/*
 * Report a grace period that has been under way too long, once: by on_stall, or in a line to
 * stderr.  Lock-free apart from these.
 */
void domain_notice_stall(haft_domain *domain);

#endif /* HAFT_CONCURRENT_STALL_H */

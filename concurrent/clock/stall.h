/* concurrent/clock/stall.h - grace periods that last too long, and their report. */
#ifndef HAFT_CONCURRENT_STALL_H
#define HAFT_CONCURRENT_STALL_H

#include <haft/domain.h>
#include <stdbool.h>

/* Whether a grace period is under way, or some workers have not announced.  Wait-free; a hint. */
bool domain_is_driven(const haft_domain *domain);

/* How long the grace period under way has been waited for, and its ticket; 0: none.  Lock-free. */
uint64_t domain_waited_ns(haft_domain *domain, uint64_t *ticket);

/* Report once a grace period that lasts too long: on_stall, or a line.  Else lock-free. */
void domain_notice_stall(haft_domain *domain);

#endif /* HAFT_CONCURRENT_STALL_H */

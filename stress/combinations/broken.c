/*
 * White-box: a library that is broken on purpose, for search_test.sh to find: whatever grace period
 * is asked for is over.
 */
#include "concurrent/clock/grace_periods.h"

uint64_t __wrap_domain_done(const haft_domain *domain);

uint64_t __wrap_domain_done(const haft_domain *domain)
{
    return domain_requested(domain);
}

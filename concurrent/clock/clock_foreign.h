/*
 * concurrent/clock/clock_foreign.h - common parts of the clocks that wait for a foreign one:
 * members of struct clock, and a pause of the thread's job while it blocks.
 */
#ifndef HAFT_CONCURRENT_CLOCK_FOREIGN_H
#define HAFT_CONCURRENT_CLOCK_FOREIGN_H

#include "concurrent/clock/clock.h"

haft_status foreign_clock_start(haft_domain *domain); /* HAFT_OK */
void foreign_clock_stop(haft_domain *domain, bool is_forked);
bool foreign_clock_pause(haft_domain *domain);
void foreign_clock_resume(haft_domain *domain, bool held);
haft_status foreign_clock_wait_for(haft_domain *domain, uint64_t ticket);
haft_status foreign_clock_join(haft_domain *domain, haft_worker *worker, struct member **member,
                               uint32_t *lift);
void foreign_clock_leave(haft_domain *domain, haft_worker *worker, struct member *member,
                         uint32_t lift);
void foreign_clock_quiescent(haft_domain *domain, struct member *member, uint64_t backlog);
void foreign_clock_offline(haft_domain *domain);
void foreign_clock_online(haft_domain *domain);
struct nesting *foreign_clock_nesting(haft_domain *domain, bool wanted);
void foreign_clock_settle(haft_domain *domain, struct nesting *nesting, int32_t before);
bool foreign_clock_in_section(const haft_domain *domain);
void foreign_clock_advise(const haft_domain *domain, const haft_stall *stall, struct text *text);

#endif /* HAFT_CONCURRENT_CLOCK_FOREIGN_H */

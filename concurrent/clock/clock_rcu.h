/*
 * concurrent/clock/clock_rcu.h - what the clocks of liburcu's flavours have in common: members of
 * struct clock, and how a thread lets go of its job while it blocks.
 */
#ifndef HAFT_CONCURRENT_CLOCK_RCU_H
#define HAFT_CONCURRENT_CLOCK_RCU_H

#include "concurrent/clock/clock.h"

void rcu_clock_start(haft_domain *domain);
void rcu_clock_stop(haft_domain *domain);
bool rcu_clock_pause(haft_domain *domain);
void rcu_clock_resume(haft_domain *domain, bool held);
haft_status rcu_clock_wait_for(haft_domain *domain, uint64_t ticket);
void rcu_clock_quiescent(haft_domain *domain, struct member *member, uint64_t backlog);
void rcu_clock_offline(haft_domain *domain);
void rcu_clock_online(haft_domain *domain);
struct standing *rcu_clock_standing(haft_domain *domain, bool wanted);
void rcu_clock_settle(haft_domain *domain, struct standing *standing, uint32_t before);
bool rcu_clock_in_section(const haft_domain *domain);
void rcu_clock_advise(const haft_domain *domain, const haft_stall *stall, struct text *text);
const struct clock *rcu_clock_after_fork(haft_domain *domain);

#endif /* HAFT_CONCURRENT_CLOCK_RCU_H */

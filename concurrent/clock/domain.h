/*
 * concurrent/clock/domain.h - the domain, as workers and tables use it: its clock's functions, each
 * with a default for clocks that do not have it.
 */
#ifndef HAFT_CONCURRENT_DOMAIN_H
#define HAFT_CONCURRENT_DOMAIN_H

#include "concurrent/clock/state.h"

/* Tell the clock that slots are wanted.  Lock-free. */
void domain_hurry(haft_domain *domain);

/* Tell the clock that slots were handed over.  Lock-free. */
void domain_handed(haft_domain *domain);

/* The calling thread opens, or closes, a worker: join and leave of struct clock. */
haft_status domain_join(haft_domain *domain, haft_worker *worker, struct member **member,
                        uint32_t *lift);
void domain_leave(haft_domain *domain, haft_worker *worker, struct member *member, uint32_t lift);

/* The calling thread holds no resolved pointer; eager: it wants slots back.  Lock-free. */
void domain_quiescent(haft_domain *domain, struct member *member, bool eager);

/* HAFT_OK; HAFT_FORKED in the child of a fork, if the domain is its parent's: it may not wait. */
haft_status domain_check_process(const haft_domain *domain);

/*
 * Wait until `ticket` is done.  Blocking, outside read sections; a quiescent point of the thread.
 * HAFT_OK, or HAFT_BUSY at once where waiting cannot help (the frame clock), or HAFT_FORKED.
 */
haft_status domain_wait_for(haft_domain *domain, uint64_t ticket);

/* Wait until all tickets requested so far are done.  As above. */
haft_status domain_wait(haft_domain *domain);

/*
 * Whether the calling thread may wait, announce a quiescent point, or take a table apart now:
 * HAFT_OK; HAFT_IN_CALLBACK; HAFT_IN_SECTION: it is known to be inside a read section or an inner
 * job.  After HAFT_OK in an outermost job, the pointers resolved in that job are void.
 */
haft_status domain_check_moment(const haft_domain *domain);

/*
 * False if the calling thread is known to be in no section: with the workers clock another thread
 * is online, and this one has no open worker, or is offline or parked.
 */
bool domain_may_read(const haft_domain *domain);

/* Fill in which thread holds a grace period up, if the clock can tell. */
void domain_blame(const haft_domain *domain, haft_stall *stall);

#endif /* HAFT_CONCURRENT_DOMAIN_H */

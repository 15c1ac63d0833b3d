/*
 * concurrent/clock/domain.h - the ticket clock, as workers and tables use it.
 *
 * Message passing without fences.  `requested` counts tickets taken, `done` the tickets whose
 * grace period has passed:
 *
 *   who retires   the frees of a batch; ticket = requested + 1                       (TICKET)
 *   who drives    s = requested; one full grace period; done = max(done, s)          (ELAPSED)
 *   who reuses    the batch may be reused when done >= ticket
 *
 * The ticket is taken after the last free of its batch, and s is read before the wait begins,
 * so a driver that covers a ticket began to wait after the frees.
 */
#ifndef HAFT_CONCURRENT_DOMAIN_H
#define HAFT_CONCURRENT_DOMAIN_H

#include "concurrent/clock/clock.h"
#include "concurrent/clock/stall.h"
#include "lib/base/atomics.h"
#include <haft/domain.h>
#include <sys/types.h>

struct haft_domain {
    uint64_t number;                         /* no other domain of the process ever has it */
    const struct rcu_flavor_struct *flavour; /* NULL with the workers and the frame clock */
    uint32_t flavour_number;                 /* see rcu.h */
    const struct clock *clock;
    struct rcu_clock rcu;       /* the state of the clocks with a flavour */
    struct thread_clock thread; /* the thread clock's */
    atomic_u64 members;         /* the workers clock's: address of the one added last */
    atomic_u64 sections;        /* open now; counted for the frame clock in debug builds */
    void (*on_stall)(const haft_stall *stall, void *stall_arg);
    void *stall_arg;
    uint64_t stall_ns;
    pid_t process;           /* where it was opened; a fork's child takes it over */
    haft_domain *next_open;  /* in the list of all: see registry.h */
    haft_domain **open_link; /* what points here in it */

    _Alignas(CACHE_LINE) atomic_u64 requested;
    _Alignas(CACHE_LINE) atomic_u64 done;

    atomic_u64 tables;        /* open on this domain */
    struct stall_watch watch; /* of the grace period under way */
    atomic_u64 grace_periods;
    atomic_u64 longest_ns;
    atomic_u64 stalls;
};

/* A ticket for what the calling thread has freed.  Lock-free. */
uint64_t domain_ticket(haft_domain *domain);

/* The highest ticket whose grace period has passed.  Wait-free. */
uint64_t domain_done(const haft_domain *domain);

/* Tickets requested and not done.  Wait-free. */
uint64_t domain_backlog(const haft_domain *domain);

/* Tell the clock that slots are wanted.  Lock-free. */
void domain_hurry(haft_domain *domain);

/*
 * The calling thread opens, or closes, a worker, by its clock's rules: join, leave and may_leave of
 * struct clock.
 */
haft_status domain_join(haft_domain *domain, haft_worker *worker, struct member **member);
void domain_leave(haft_domain *domain, haft_worker *worker, struct member *member);
bool domain_may_leave(const haft_domain *domain, const struct member *member);

/* The calling thread holds no resolved pointer; `backlog` slots of its wait.  Lock-free. */
void domain_quiescent(haft_domain *domain, struct member *member, uint64_t backlog);

/* HAFT_OK; HAFT_FORKED in a child that has not taken the domain over: it may not wait. */
haft_status domain_check_process(const haft_domain *domain);

/*
 * Wait until `ticket` is done.  Blocking, outside read sections; a quiescent point of the thread.
 * HAFT_OK, or HAFT_BUSY at once where waiting cannot help (the frame clock), or HAFT_FORKED.
 */
haft_status domain_wait_for(haft_domain *domain, uint64_t ticket);

/* Wait until all that is requested now is done.  As above. */
haft_status domain_wait(haft_domain *domain);

/*
 * Whether the calling thread may wait, announce a quiescent point, or take a table apart now:
 * HAFT_OK; HAFT_IN_CALLBACK; HAFT_IN_SECTION where domain_in_section() says so.
 */
haft_status domain_check_moment(const haft_domain *domain);

/*
 * Whether the calling thread may not wait: it is known to be inside a read section or an inner job.
 * If not, and it is in an outermost job, pointers resolved in that are void after the call.
 */
bool domain_in_section(const haft_domain *domain);

/* Fill in which thread holds a grace period up, if the clock can tell. */
void domain_blame(const haft_domain *domain, haft_stall *stall);

/* In the child of a fork: go on as its only thread. */
void domain_after_fork(haft_domain *domain);

/* For clocks. */

/* All tickets taken until now: what frees they stand for comes before what the caller does next. */
uint64_t domain_requested(const haft_domain *domain);

/*
 * A grace period is waited for, with all tickets up to `done` done; or has ended, with all up to
 * `ticket` done.  Until then it is watched for stalls.  Several threads may end the same one.
 */
void domain_begin_grace(haft_domain *domain, uint64_t done);
void domain_end_grace(haft_domain *domain, uint64_t ticket);

#endif /* HAFT_CONCURRENT_DOMAIN_H */

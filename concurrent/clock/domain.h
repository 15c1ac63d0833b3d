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
#include "lib/base/atomics.h"
#include <haft/domain.h>
#include <sys/types.h>

struct haft_domain {
    uint64_t number;                         /* no other domain of the process ever has it */
    const struct rcu_flavor_struct *flavour; /* NULL with the workers and the frame clock */
    const struct clock *clock;
    struct rcu_clock rcu;       /* the state of the clocks with a flavour */
    struct thread_clock thread; /* the thread clock's */
    atomic_u64 members;         /* the workers clock's: address of the one added last */
    atomic_u64 stuck_at;        /* the workers clock's: `done` when a wait was noticed last */
    atomic_u64 sections;        /* open now; counted for the frame clock in debug builds */
    void (*on_stall)(const haft_stall *stall, void *stall_arg);
    void *stall_arg;
    uint64_t stall_ns;
    pid_t process;           /* where it was opened; a fork's child takes it over */
    haft_domain *next_open;  /* in the list of all: see registry.h */
    haft_domain **open_link; /* what points here in it */

    _Alignas(CACHE_LINE) atomic_u64 requested;
    _Alignas(CACHE_LINE) atomic_u64 done;

    atomic_u64 tables;         /* open on this domain */
    atomic_u64 driven_since;   /* when the grace period under way began, ns; 0: none is */
    atomic_u64 stall_reported; /* the driven_since of the stall reported last */
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

/* Whether the calling thread may close a worker with that member.  Wait-free. */
bool domain_may_leave(const haft_domain *domain, const struct member *member);

/* Tell the clock that slots are wanted.  Lock-free. */
void domain_hurry(haft_domain *domain);

/*
 * Whether a grace period is under way: some thread drives it, or workers are still to announce
 * themselves.  Wait-free; a hint.
 */
bool domain_is_driven(const haft_domain *domain);

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
 * HAFT_OK; HAFT_IN_CALLBACK; HAFT_IN_SECTION if it is known to be inside a read section.
 */
haft_status domain_check_moment(const haft_domain *domain);

/* Whether the calling thread is known to be inside a read section. */
bool domain_in_section(const haft_domain *domain);

/* Call on_stall if a grace period has been under way for too long.  Lock-free but for it. */
void domain_notice_stall(haft_domain *domain);

/* How long the grace period that is under way has been waited for; 0: none is.  Wait-free. */
uint64_t domain_waited_ns(const haft_domain *domain);

/* For clocks. */

/* All tickets taken until now: what frees they stand for comes before what the caller does next. */
uint64_t domain_requested(const haft_domain *domain);

/*
 * A grace period begins; or ends, with all tickets up to `ticket` done.  Between the two it is
 * watched for stalls.  Several threads may end the same one.
 */
void domain_begin_grace(haft_domain *domain);
void domain_end_grace(haft_domain *domain, uint64_t ticket);

#define NS_PER_S UINT64_C(1000000000)

/* The monotonic time. */
uint64_t now_ns(void);

#endif /* HAFT_CONCURRENT_DOMAIN_H */

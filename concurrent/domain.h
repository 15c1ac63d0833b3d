/*
 * concurrent/domain.h - the ticket clock, as workers and tables use it.
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

#include "concurrent/clock.h"
#include "lib/atomics.h"
#include <haft/domain.h>

struct haft_domain {
    const struct rcu_flavor_struct *flavour;
    const struct clock *clock;
    struct thread_clock thread; /* the thread clock's state; others leave it alone */
    void (*on_stall)(const haft_stall *stall, void *stall_arg);
    void *stall_arg;
    uint64_t stall_ns;

    /* For those who wait: see domain_wait_for(). */
    pthread_mutex_t lock;
    pthread_cond_t driver_finished;
    bool has_driver;

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

/* Tell the clock that slots are wanted.  Lock-free. */
void domain_hurry(haft_domain *domain);

/* Whether some thread waits for a grace period now.  Wait-free; a hint. */
bool domain_is_driven(const haft_domain *domain);

/*
 * Wait until `ticket` is done.  Blocking, outside read sections; with qsbr a quiescent point.
 *
 * One thread drives at a time.  The tickets would allow for more, but waits that overlap inside
 * liburcu 0.13 can cost each of them 10 ms: who follows in its queue may sleep that long.
 */
void domain_wait_for(haft_domain *domain, uint64_t ticket);

/* Wait until all that is requested now is done.  As above. */
void domain_wait(haft_domain *domain);

/* Call on_stall if a grace period has been under way for too long.  Lock-free but for it. */
void domain_notice_stall(haft_domain *domain);

#endif /* HAFT_CONCURRENT_DOMAIN_H */

/*
 * concurrent/clock/clock.h - the clocks: what a grace period is, and who drives it.
 *
 * One clock_*.c for each clock; thread and caller share clock_rcu.c, which waits for the read
 * sections of a liburcu flavour.  Tickets and their order are the domain's.
 */
#ifndef HAFT_CONCURRENT_CLOCK_H
#define HAFT_CONCURRENT_CLOCK_H

#include "lib/base/atomics.h"
#include <haft/table.h>
#include <pthread.h>
#include <semaphore.h>

struct member;

struct clock {
    const char *name;
    bool has_flavour; /* its read sections are those of a liburcu flavour */

    haft_status (*start)(haft_domain *domain);
    void (*stop)(haft_domain *domain);

    /* After a ticket was taken.  Lock-free: a clock that sleeps is woken past a threshold. */
    void (*requested)(haft_domain *domain, uint64_t ticket);

    /* Somebody runs short of slots.  Lock-free. */
    void (*hurry)(haft_domain *domain);

    /*
     * Wait until `ticket` is done, outside read sections; for the calling thread a quiescent
     * point.  HAFT_OK; HAFT_BUSY, at once, where waiting cannot help.
     */
    haft_status (*wait_for)(haft_domain *domain, uint64_t ticket);

    /*
     * The calling thread opens, or closes, a worker.  join: HAFT_OK, with what quiescent() is to
     * be given; or HAFT_NO_MEMORY.
     */
    haft_status (*join)(haft_domain *domain, haft_worker *worker, struct member **member);
    void (*leave)(haft_domain *domain, haft_worker *worker, struct member *member);

    /* Whether the calling thread may close a worker with that member. */
    bool (*may_leave)(const struct member *member);

    /* The calling thread holds no resolved pointer; `backlog` slots of its wait.  Lock-free. */
    void (*quiescent)(haft_domain *domain, struct member *member, uint64_t backlog);

    /* No grace period waits for the calling thread from here to there. */
    void (*offline)(haft_domain *domain);
    void (*online)(haft_domain *domain);

    /* Fill in who holds a grace period up, where the clock can tell. */
    void (*blame)(const haft_domain *domain, haft_stall *stall);

    /* In the child of a fork: forget the threads that are gone.  The clock to go on with. */
    const struct clock *(*after_fork)(haft_domain *domain);
};

/* thread.c: the calling thread's number, which no other thread ever has; not 0. */
uint64_t thread_number(void);

/* Driven by a background thread, asleep when nothing is requested. */
extern const struct clock thread_clock;

/* Driven by workers and waiters alone. */
extern const struct clock caller_clock;

/* Workers announce their quiescent points themselves; anyone adds them up. */
extern const struct clock workers_clock;

/* Driven by haft_domain_tick(). */
extern const struct clock frame_clock;

/* clock_none.c: for what a clock has no use for. */
void clock_ignore_ticket(haft_domain *domain, uint64_t ticket);
void clock_ignore(haft_domain *domain);
haft_status clock_join_none(haft_domain *domain, haft_worker *worker, struct member **member);
void clock_leave_none(haft_domain *domain, haft_worker *worker, struct member *member);
bool clock_may_leave_none(const struct member *member);
void clock_blame_none(const haft_domain *domain, haft_stall *stall);

/* clock_rcu.c: what the clocks of liburcu's flavours have in common. */
struct rcu_clock {
    pthread_mutex_t lock;
    pthread_cond_t driver_finished;
    bool has_driver;
};

void rcu_clock_start(haft_domain *domain);
void rcu_clock_stop(haft_domain *domain);
haft_status rcu_clock_wait_for(haft_domain *domain, uint64_t ticket);
void rcu_clock_quiescent(haft_domain *domain, struct member *member, uint64_t backlog);
void rcu_clock_offline(haft_domain *domain);
void rcu_clock_online(haft_domain *domain);
const struct clock *rcu_clock_after_fork(haft_domain *domain);

struct thread_clock {
    pthread_t thread;
    sem_t wake;
    atomic_u64 woken; /* 1: posted, and not looked yet */
    atomic_u64 stopping;
};

#endif /* HAFT_CONCURRENT_CLOCK_H */

/*
 * concurrent/clock.h - who drives a domain's grace periods.
 *
 * One clock_*.c for each clock.  A clock only says who calls domain_wait() and when;
 * tickets and their order are the domain's.
 */
#ifndef HAFT_CONCURRENT_CLOCK_H
#define HAFT_CONCURRENT_CLOCK_H

#include "lib/atomics.h"
#include <haft/domain.h>
#include <pthread.h>
#include <semaphore.h>

struct clock {
    haft_status (*start)(haft_domain *domain);
    void (*stop)(haft_domain *domain);

    /* After a ticket was taken.  Lock-free: a clock that sleeps is woken past a threshold. */
    void (*requested)(haft_domain *domain, uint64_t ticket);

    /* Somebody runs short of slots.  Lock-free. */
    void (*hurry)(haft_domain *domain);
};

/* Driven by workers and waiters alone. */
extern const struct clock caller_clock;

/* Driven by a background thread, asleep when nothing is requested. */
extern const struct clock thread_clock;

struct thread_clock {
    pthread_t thread;
    sem_t wake;
    atomic_u64 woken; /* 1: posted, and not looked yet */
    atomic_u64 stopping;
};

#endif /* HAFT_CONCURRENT_CLOCK_H */

/*
 * concurrent/clock/clock.h - the clocks: what a grace period is, and which thread drives it.
 *
 * One clock_*.c for each clock; thread and caller are in clock_foreign.c, as both wait for the read
 * sections of a foreign clock.  Tickets and their order are the domain's.
 */
#ifndef HAFT_CONCURRENT_CLOCK_H
#define HAFT_CONCURRENT_CLOCK_H

#include <haft/table.h>

struct member;
struct nesting;
struct text;

/* NULL: the clock has no use for it; the functions of domain.h and jobs_and_parks.h check that. */
struct clock {
    const char *name;
    bool is_foreign; /* its read sections are those of a foreign clock */

    haft_status (*start)(haft_domain *domain);

    /* Release what start() has taken: with `is_forked` the memory alone, since the clock's thread,
     * its locks and their waiters are the parent's. */
    void (*stop)(haft_domain *domain, bool is_forked);

    /* After a ticket was taken.  Lock-free: a clock that sleeps is woken past a threshold. */
    void (*requested)(haft_domain *domain, uint64_t ticket);

    /* Slots were handed over.  Lock-free: a clock that sleeps is woken. */
    void (*handed)(haft_domain *domain);

    /* A worker runs short of slots.  Lock-free. */
    void (*hurry)(haft_domain *domain);

    /* Wait until `ticket` is done: a quiescent point.  HAFT_BUSY at once: waiting is no help. */
    haft_status (*wait_for)(haft_domain *domain, uint64_t ticket);

    /*
     * The calling thread opens, or closes, a worker.  join: HAFT_OK, with what quiescent() is to
     * be given, and the lift that leave() is to be given (jobs_and_parks.h; 0: none); or
     * HAFT_NO_MEMORY.  Both or none.
     */
    haft_status (*join)(haft_domain *domain, haft_worker *worker, struct member **member,
                        uint32_t *lift);
    void (*leave)(haft_domain *domain, haft_worker *worker, struct member *member, uint32_t lift);

    /* The calling thread holds no resolved pointer; eager: it wants slots back.  Lock-free. */
    void (*quiescent)(haft_domain *domain, struct member *member, bool eager);

    /* Both or none.  In between no grace period waits for the thread; a parked one stays parked. */
    void (*offline)(haft_domain *domain);
    void (*online)(haft_domain *domain);

    /*
     * Jobs (jobs_and_parks.h).  The calling thread's nesting state, brought up to date; with
     * `wanted`, a new one if it has none.  NULL: it has none, or there is no memory for one.
     */
    struct nesting *(*nesting)(haft_domain *domain, bool wanted);

    /* The calling thread's nesting state has changed; its level was `before`. */
    void (*settle)(haft_domain *domain, struct nesting *nesting, int32_t before);

    /* Whether the calling thread is inside a read section that is not its outermost job's. */
    bool (*in_section)(const haft_domain *domain);

    /* Whether the calling thread may use what it resolves.  NULL: that cannot be told: with a
     * foreign clock a thread that is alone may look outside sections. */
    bool (*may_read)(const haft_domain *domain);

    /* Fill in which thread holds a grace period up. */
    void (*blame)(const haft_domain *domain, haft_stall *stall);

    /* Add to a line of text what holds the grace period up, and what to do about it. */
    void (*advise)(const haft_domain *domain, const haft_stall *stall, struct text *text);
};

/* workers_clock in clock_workers.c and so on: haft/domain.h says what each is. */
#define CLOCK_OBJECT(UPPER, lower) extern const struct clock lower##_clock;
HAFT_CLOCKS(CLOCK_OBJECT)

#endif /* HAFT_CONCURRENT_CLOCK_H */

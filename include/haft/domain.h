/*
 * haft/domain.h - the domain: what decides when a retired slot may be reused.
 *
 * A freed object's memory is reused only after a grace period: when every read section that was
 * open at the free has ended.  A domain is such a clock, shared by any number of tables.  Read
 * sections are those of the liburcu flavour it was opened with (see haft/section.h).
 *
 * Batches of freed slots take tickets; whoever drives the clock waits for one full grace period
 * and then marks all tickets that were taken before it began as done.
 */
#ifndef HAFT_DOMAIN_H
#define HAFT_DOMAIN_H

#include <haft/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rcu_flavor_struct; /* liburcu's: &urcu_memb_flavor, &urcu_qsbr_flavor, ... */

typedef struct haft_domain haft_domain;

typedef enum haft_clock {
    HAFT_CLOCK_THREAD, /* a background thread per domain, asleep when nothing is requested */
    HAFT_CLOCK_CALLER, /* whoever waits: haft_worker_quiescent, haft_..._wait, haft_table_close */
    HAFT_CLOCK_COUNT   /* how many there are; not a clock */
} haft_clock;

/* What the stall callback is told. */
typedef struct haft_stall {
    haft_domain *domain;
    uint64_t waited_ns; /* how long a grace period has been waited for */
    uint64_t backlog;   /* tickets (batches) that wait for it */
} haft_stall;

typedef struct haft_domain_options {
    const struct rcu_flavor_struct *flavour; /* required */
    haft_clock clock;

    /*
     * Called when a grace period in progress has lasted stall_ns, once per stall: by a worker on a
     * slow path (no free slot at hand; a quiescent point with a backlog), or by a thread that
     * waits for another one's grace period.  A thread that drives a grace period itself, with no
     * other thread about, cannot tell.  It may not call haft functions that wait.  stall_ns 0: one
     * second.
     */
    void (*on_stall)(const haft_stall *stall, void *stall_arg);
    void *stall_arg;
    uint64_t stall_ns;
} haft_domain_options;

typedef struct haft_domain_stats {
    uint64_t grace_periods;           /* waited for until now */
    uint64_t longest_grace_period_ns; /* 0 before the first */
    uint64_t backlog;                 /* tickets (batches) requested and not done */
    uint64_t stalls;                  /* stalls noticed */
} haft_domain_stats;

/*
 * haft_domain_open - a new domain.
 *
 * Returns   HAFT_OK and the domain in `*domain`.  Otherwise `*domain` is untouched:
 *             HAFT_BAD_FLAVOUR, HAFT_BAD_CLOCK   the option of that name
 *             HAFT_NO_MEMORY, HAFT_NO_THREAD     refused by the system
 * Threads   any; it need not be registered with liburcu.
 * Ordering  none: hand the pointer over as any other.
 * Progress  blocking (starts a thread with HAFT_CLOCK_THREAD, which blocks all signals).
 * Cost      O(1).
 */
haft_status haft_domain_open(const haft_domain_options *options, haft_domain **domain);

/*
 * haft_domain_close - the end of a domain.
 *
 * Returns   HAFT_OK.  Otherwise nothing is done:
 *             HAFT_IN_USE       a table is still open on it
 *             HAFT_IN_SECTION   the calling thread is inside a read section (all but qsbr)
 * Threads   one thread outside read sections, when no other thread uses the domain any more.
 *           With qsbr it is a quiescent point of the calling thread.
 * Ordering  none.
 * Progress  blocking: waits for a grace period that its thread is in the middle of.
 * Cost      O(1).
 */
haft_status haft_domain_close(haft_domain *domain);

/*
 * haft_domain_wait - wait until all that was retired and handed on before may be reused.  What
 * still sits in a worker's open batch is not covered: haft_worker_flush() hands it on.
 *
 * Returns   HAFT_OK.  HAFT_IN_SECTION, and nothing is done, if the calling thread is inside a
 *           read section (flavours that can tell: all but qsbr).
 * Threads   any thread outside read sections.  With qsbr the call is a quiescent point of the
 *           calling thread: pointers it resolved before are void.
 * Ordering  acquire: what other threads did in read sections that were waited for is visible, and
 *           what they did before they handed freed slots on.
 * Progress  blocking: waits for readers.
 * Cost      a grace period of the flavour, unless nothing was requested.
 */
haft_status haft_domain_wait(haft_domain *domain);

/*
 * haft_domain_stats_get - the clock's counters.
 *
 * Returns   a snapshot; each number is exact by itself, together they may be of different moments.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
haft_domain_stats haft_domain_stats_get(const haft_domain *domain);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_DOMAIN_H */

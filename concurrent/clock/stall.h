/*
 * concurrent/clock/stall.h - how long a grace period has been waited for, and stalls.
 *
 * The measure names the grace period that it is of: `done` as it stood when the wait was noticed.
 * It counts only while `done` still stands there.  So it needs no end, and a thread that writes it
 * late, or reads it late, measures nothing.
 */
#ifndef HAFT_CONCURRENT_STALL_H
#define HAFT_CONCURRENT_STALL_H

#include "lib/base/atomics.h"
#include <haft/domain.h>
#include <pthread.h>

struct stall_watch {
    pthread_mutex_t lock; /* of the two words after it, which belong together; only ever tried */
    atomic_u64 ticket;    /* the first one that waits: `done` + 1; 0: none was noticed */
    atomic_u64 since;     /* when it was noticed, ns */
    atomic_u64 reported;  /* the `ticket` of the stall reported last */
};

#define NS_PER_S UINT64_C(1000000000)

/* The monotonic time. */
uint64_t now_ns(void);

/* The option with its default, and short enough to be added to the time. */
uint64_t stall_limit(uint64_t stall_ns);

/*
 * Ready for its first grace period; also in the child of a fork, where a thread that is gone may
 * have the lock.  For its sake the lock is never destroyed: it has nothing to free.
 */
void stall_open_watch(struct stall_watch *watch);

/* The grace period behind `done` is waited for: measure it, unless it is measured.  Lock-free. */
void stall_begin_watch(struct stall_watch *watch, uint64_t done);

/* How long the grace period behind `done` was measured; 0: it was not.  Lock-free. */
uint64_t stall_lasted_watch(struct stall_watch *watch, uint64_t done);

/*
 * Whether a grace period is under way: some thread drives it, or workers are still to announce
 * themselves.  Wait-free; a hint.
 */
bool domain_is_driven(const haft_domain *domain);

/* How long the grace period that is under way has been waited for; 0: none is.  Lock-free. */
uint64_t domain_waited_ns(haft_domain *domain);

/*
 * Report a grace period that has been under way for too long, once: by on_stall, or in a line to
 * stderr.  Lock-free but for these.
 */
void domain_notice_stall(haft_domain *domain);

#endif /* HAFT_CONCURRENT_STALL_H */

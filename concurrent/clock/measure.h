/*
 * concurrent/clock/measure.h - how long a grace period has been waited for.
 *
 * The measure names its grace period by `done` as it stood when a thread noticed the wait, and
 * counts only while `done` still stands there.  So a measure needs no end, and a thread that writes
 * or reads it late measures nothing.
 */
#ifndef HAFT_CONCURRENT_MEASURE_H
#define HAFT_CONCURRENT_MEASURE_H

#include "lib/base/atomics.h"
#include "lib/base/os.h"

struct measure {
    struct os_mutex lock; /* to write the two words after it; only ever tried */
    atomic_u64 ticket;    /* the first one that waits: `done` + 1; 0: none was noticed */
    atomic_u64 since;     /* when it was noticed, ns */
    atomic_u64 reported;  /* the `ticket` of the stall reported last */
};

#define NS_PER_S UINT64_C(1000000000)

/* Ready for its first grace period.  The lock is never destroyed: it has nothing to free. */
void measure_open(struct measure *measure);

/*
 * The grace period behind `done` is waited for: measure it, unless it is measured.  Lock-free.
 * False: it is not, for another thread has the lock.
 */
bool measure_begin(struct measure *measure, uint64_t done);

/*
 * Which ticket's wait is measured, and since when; 0: none.  It counts if `done` stands just before
 * that ticket afterwards.  Wait-free.
 */
uint64_t measure_read(const struct measure *measure, uint64_t *since);

#endif /* HAFT_CONCURRENT_MEASURE_H */

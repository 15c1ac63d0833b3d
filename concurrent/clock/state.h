/* concurrent/clock/state.h - the structs of the domain. */
#ifndef HAFT_CONCURRENT_CLOCK_STATE_H
#define HAFT_CONCURRENT_CLOCK_STATE_H

#include "concurrent/clock/clock.h"
#include "concurrent/clock/measure.h"
#include "lib/base/atomics.h"
#include "lib/base/heap.h"
#include "lib/base/os.h"
#include <haft/domain.h>

/* The nesting state of a thread with a clock: see jobs_and_parks.h. */
struct nesting {
    int32_t level; /* PARKED; 0: offline; 1: in a job, or online without; more: in an inner job */
    uint32_t open; /* jobs begun and not ended, and parks not taken back */

    /* The latest lift: a worker opened on a thread that was parked or offline, and brought it
     * online.  The last worker of the lift that closes takes that back. */
    uint32_t lift;           /* its number */
    uint32_t lift_workers;   /* open workers that were opened in it */
    uint32_t lift_open : 30; /* `open` when it began: it ends when fewer are */
    uint32_t is_lifted : 1;  /* it lasts */
    uint32_t was_parked : 1; /* before it; else offline */
};
#define LIFT_OPEN_MOST ((UINT32_C(1) << 30) - 1)
#define PARKED (-1) /* offline too; only a job, a worker or the end of the park brings it online */

/* Of the clocks that wait for a foreign one. */
struct foreign_driver {
    struct os_mutex lock;
    struct os_condition finished;
    bool is_driving;
};

/* The thread clock's. */
struct thread_clock {
    struct os_thread thread;
    struct os_semaphore wake;
    atomic_u64 woken; /* 1: posted, and not looked yet */
    atomic_u64 stopping;
};

struct haft_domain {
    uint64_t number;            /* no other domain of the process ever has it */
    haft_foreign_clock foreign; /* all NULL with the workers and the frame clock */
    const struct clock *clock;
    struct foreign_driver driver; /* of the clocks that wait for a foreign one */
    struct thread_clock thread;   /* the thread clock's */
    atomic_u64 members;           /* the workers clock's: address of the one added last */
    atomic_u64 sections;          /* open now; counted for the frame clock in debug builds */
    void (*on_stall)(const haft_stall *stall, void *stall_arg);
    void *stall_arg;
    uint64_t stall_ns;
    uint64_t process; /* where it was opened: registry_process() */

    _Alignas(CACHE_LINE) atomic_u64 requested;
    _Alignas(CACHE_LINE) atomic_u64 done;

    atomic_u64 tables;      /* open on this domain */
    struct measure measure; /* of the grace period under way */
    atomic_u64 grace_periods;
    atomic_u64 longest_ns;
    atomic_u64 stalls;

    haft_allocator heap; /* of the domain and its members */
};

#endif /* HAFT_CONCURRENT_CLOCK_STATE_H */

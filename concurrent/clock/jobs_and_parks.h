/*
 * concurrent/clock/jobs_and_parks.h - jobs that wait for jobs, and parks: the nesting
 * states of threads with a clock.  See haft/domain.h.
 *
 * The workers clock keeps a nesting state in each member of a domain; foreign clocks have one for
 * each thread and ctx, since a thread is online, or in a section, for all domains with the same
 * one.
 */
#ifndef HAFT_CONCURRENT_JOBS_AND_PARKS_H
#define HAFT_CONCURRENT_JOBS_AND_PARKS_H

#include "concurrent/clock/state.h"
#include <haft/domain.h>
#include <stdbool.h>

/* Whether a job of the calling thread has begun and not ended, or is parked. */
bool domain_has_open_jobs(haft_domain *domain);

/* Whether the calling thread is in an inner job: it may announce nothing and wait for nothing. */
bool domain_in_inner_job(haft_domain *domain);

/* For want of memory a job of the thread was not noted: until it ends, it opens no first worker. */
bool job_is_forgotten(void);

/*
 * The thread with that nesting state opens a worker: away, it comes online; inside a lift until the
 * job or park ends in which it was away.  Returns the number of the worker's lift; 0: none.
 */
uint32_t lift_join(struct nesting *nesting);

/* It closes a worker of that lift; with the last one the level is again as before the lift. */
void lift_leave(struct nesting *nesting, uint32_t lift);

/* haft_thread_online() on a thread that is online: it was offline before the lift, and stays. */
void lift_keep(struct nesting *nesting);

#endif /* HAFT_CONCURRENT_JOBS_AND_PARKS_H */

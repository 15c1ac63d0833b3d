/*
 * concurrent/clock/jobs.h - jobs that wait for jobs: the standings of threads with a clock.  See
 * haft/domain.h.
 *
 * The workers clock keeps a standing in each member of a domain; foreign clocks have one for each
 * thread and ctx, since a thread is online, or in a section, for all domains with the same one.
 */
#ifndef HAFT_CONCURRENT_JOBS_H
#define HAFT_CONCURRENT_JOBS_H

#include <haft/domain.h>
#include <stdbool.h>

/* Whether a job of the calling thread has begun and not ended, or is parked. */
bool domain_has_open_jobs(haft_domain *domain);

/* Whether the calling thread is in an inner job: it may announce nothing and wait for nothing. */
bool domain_in_inner_job(haft_domain *domain);

/*
 * The library could not remember that a job of the calling thread began, for want of memory: until
 * that ends, the thread opens no first worker.
 */
bool job_is_forgotten(void);

#endif /* HAFT_CONCURRENT_JOBS_H */

/* stress/combinations/jobs.h - jobs inside jobs, and parks. */
#ifndef HAFT_COMBINATIONS_JOBS_H
#define HAFT_COMBINATIONS_JOBS_H

#include "stress/combinations/model.h"

/* The lift may have ended: with a job or park that began before it, or with its last worker. */
void review_lift(struct seat *seat);

/* The level of a seat without workers and jobs is 0 with the workers clock. */
void settle_level(struct seat *seat);

/* Of the jobs and parks that the library remembers, the last; NULL: none. */
struct job *last_known_job(struct seat *seat);

/* Offline by a park, and not in a job since. */
bool seat_is_parked(struct seat *seat);
uint32_t known_jobs(const struct seat *seat);
void end_jobs(struct thread *thread); /* those that began after its last section */

#endif /* HAFT_COMBINATIONS_JOBS_H */

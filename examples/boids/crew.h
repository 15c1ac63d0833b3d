/*
 * crew.h - the smallest job system that will do: a GThreadPool, and a wait for all jobs of a frame.
 */
#ifndef BOIDS_CREW_H
#define BOIDS_CREW_H

#include <stddef.h>

struct crew;

/* NULL if the system gives no threads. */
struct crew *crew_open(unsigned workers);
void crew_close(struct crew *crew);

/*
 * Calls run(job) for each of `count` jobs of `size` bytes, on any threads in any order, and returns
 * when all have ended: what they wrote is visible then.
 */
void crew_run(struct crew *crew, void (*run)(void *job), void *jobs, size_t count, size_t size);

#endif /* BOIDS_CREW_H */

/*
 * pool.h - jobs that wait for a thread, in the order in which they were pushed, and the threads.
 *
 * A job may push jobs.  The threads take them until the pool is closed; a job is pushed again only
 * after a thread has taken it.
 */
#ifndef REPLAY_POOL_H
#define REPLAY_POOL_H

#include <pthread.h>
#include <stdbool.h>

struct job;

struct job_pool {
    pthread_mutex_t lock;
    pthread_cond_t pushed;
    struct job *first;
    struct job *last;
    bool closed;
    pthread_t *threads;
    unsigned thread_count;
};

/* Starts `count` threads that run body(argument), which takes jobs until there is none.  Returns 0,
 * or the errno of pthread_create(); then no thread runs. */
int job_pool_open(struct job_pool *pool, unsigned count, void *(*body)(void *), void *argument);

/* After the last job.  Returns when the threads have ended. */
void job_pool_close(struct job_pool *pool);

void job_pool_push(struct job_pool *pool, struct job *job);

/* Waits for a job.  NULL: the pool is closed. */
struct job *job_pool_take(struct job_pool *pool);

#endif /* REPLAY_POOL_H */

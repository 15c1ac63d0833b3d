#include "pool.h"
#include "failure.h"
#include "run.h"
#include <stdlib.h>

int job_pool_open(struct job_pool *pool, unsigned count, void *(*body)(void *), void *argument)
{
    int status = 0;

    *pool = (struct job_pool){.threads = replay_allocate(count, sizeof *pool->threads)};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->pushed, NULL);
    while (status == 0 && pool->thread_count < count) {
        status = pthread_create(&pool->threads[pool->thread_count], NULL, body, argument);
        pool->thread_count += status == 0;
    }
    if (status != 0) {
        job_pool_close(pool);
    }
    return status;
}

void job_pool_close(struct job_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->closed = true;
    pthread_cond_broadcast(&pool->pushed);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->pushed);
    pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
}

void job_pool_push(struct job_pool *pool, struct job *job)
{
    job->behind = NULL;
    pthread_mutex_lock(&pool->lock);
    if (pool->first == NULL) {
        pool->first = job;
    } else {
        pool->last->behind = job;
    }
    pool->last = job;
    pthread_cond_signal(&pool->pushed);
    pthread_mutex_unlock(&pool->lock);
}

struct job *job_pool_take(struct job_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->first == NULL && !pool->closed) {
        pthread_cond_wait(&pool->pushed, &pool->lock);
    }
    struct job *job = pool->first;

    if (job != NULL) {
        pool->first = job->behind;
    }
    pthread_mutex_unlock(&pool->lock);
    return job;
}

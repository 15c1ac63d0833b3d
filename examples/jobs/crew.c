/*
 * The threads of a job system as haft sees them: each has a worker from its first job on.
 *
 * Pools tell nobody when their threads begin and end; thread-specific data does.
 */
#include "jobs.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct hand {
    struct jobs *jobs;
    haft_worker *worker;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* of the calling thread's struct hand */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned open_workers; /* under the lock */

static void count(int change)
{
    pthread_mutex_lock(&lock);
    open_workers += (unsigned)change;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void leave(void *data)
{
    struct hand *hand = data;

    haft_thread_online(hand->jobs->domain);
    haft_worker_close(hand->worker);
    haft_thread_unregister(hand->jobs->domain);
    free(hand);
    count(-1);
}

static void make_key(void)
{
    if (pthread_key_create(&key, leave) != 0) {
        abort();
    }
}

static struct hand *join(struct jobs *jobs)
{
    struct hand *hand = malloc(sizeof *hand);

    haft_thread_register(jobs->domain);
    if (hand == NULL || haft_worker_open(jobs->table, &hand->worker) != HAFT_OK) {
        fputs("no memory for a worker\n", stderr);
        abort();
    }
    hand->jobs = jobs;
    pthread_setspecific(key, hand);
    count(1);
    return hand;
}

haft_worker *crew_enter(struct jobs *jobs)
{
    pthread_once(&once, make_key);
    struct hand *hand = pthread_getspecific(key);

    if (hand == NULL) {
        hand = join(jobs);
    } else {
        haft_thread_online(jobs->domain);
    }
    return hand->worker;
}

void crew_leave(struct jobs *jobs)
{
    (void)jobs;
    pthread_once(&once, make_key);
    struct hand *hand = pthread_getspecific(key);

    if (hand != NULL) {
        pthread_setspecific(key, NULL);
        leave(hand);
    }
}

void crew_await(struct jobs *jobs)
{
    crew_leave(jobs);
    pthread_mutex_lock(&lock);
    while (open_workers != 0) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}

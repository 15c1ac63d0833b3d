/*
 * The threads of a job system as haft sees them: each has a worker from its first job on.
 *
 * Pools do not tell when their threads begin and end; thread-specific data does.
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

    if (hand->worker != NULL) {
        haft_worker_close(hand->worker);
    }
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

static _Noreturn void give_up(void)
{
    fputs("no memory for a worker\n", stderr);
    abort();
}

/* With qsbr a thread that registers is online: offline it is as between two jobs. */
static struct hand *join(struct jobs *jobs)
{
    struct hand *hand = calloc(1, sizeof *hand);

    if (hand == NULL) {
        give_up();
    }
    haft_thread_register(jobs->domain);
    haft_thread_offline(jobs->domain);
    hand->jobs = jobs;
    pthread_setspecific(key, hand);
    count(1);
    return hand;
}

haft_worker *crew_begin_job(struct jobs *jobs, haft_job_state *state)
{
    pthread_once(&once, make_key);
    struct hand *hand = pthread_getspecific(key);

    if (hand == NULL) {
        hand = join(jobs);
    }
    *state = haft_job_begin(jobs->domain);
    if (hand->worker == NULL && haft_worker_open(jobs->table, &hand->worker) != HAFT_OK) {
        give_up();
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

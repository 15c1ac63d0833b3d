/*
 * A pool whose waiting threads run jobs: a stack of jobs under one lock, which a thread that waits
 * takes from as any other does.
 */
#include "stress/nested/nested.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct job {
    void (*run)(void *arg, unsigned number);
    void *arg;
    unsigned number;
    unsigned *left; /* of its siblings and itself, under the lock */
    struct job *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct job *jobs;
static bool ends;

/* Under the lock, which is let go meanwhile.  False: there was none. */
static bool run_one(void)
{
    struct job *job = jobs;

    if (job == NULL) {
        return false;
    }
    jobs = job->next;
    pthread_mutex_unlock(&lock);
    job->run(job->arg, job->number);
    pthread_mutex_lock(&lock);
    if (--*job->left == 0) {
        pthread_cond_broadcast(&changed);
    }
    free(job);
    return true;
}

static void *run_until_end(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (!ends) {
        if (!run_one()) {
            pthread_cond_wait(&changed, &lock);
        }
    }
    pthread_mutex_unlock(&lock);
    nested_leave();
    return NULL;
}

void system_run_jobs(unsigned count, void (*run)(void *arg, unsigned number), void *arg)
{
    unsigned left = count;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < count; i++) {
        struct job *job = malloc(sizeof *job);

        if (job == NULL) {
            abort();
        }
        *job = (struct job){run, arg, i, &left, jobs};
        jobs = job;
    }
    pthread_cond_broadcast(&changed);
    while (left != 0) {
        if (!run_one()) {
            pthread_cond_wait(&changed, &lock);
        }
    }
    pthread_mutex_unlock(&lock);
}

void system_run(unsigned threads, void (*root)(void *arg), void *arg)
{
    pthread_t *others = calloc(threads, sizeof *others);

    if (others == NULL) {
        abort();
    }
    for (unsigned i = 1; i < threads; i++) {
        if (pthread_create(&others[i], NULL, run_until_end, NULL) != 0) {
            abort();
        }
    }
    root(arg);
    pthread_mutex_lock(&lock);
    ends = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (unsigned i = 1; i < threads; i++) {
        pthread_join(others[i], NULL);
    }
    free(others);
    nested_leave();
}

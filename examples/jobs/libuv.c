/* libuv's pool: the loop's thread alone queues jobs, when it hears that others have ended. */
#include "jobs.h"
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

const struct job_system job_system = {
    .name = "jobs_libuv",
    .title = "libuv's thread pool",
    .clock = HAFT_CLOCK_THREAD,
};

struct work {
    uv_work_t request; /* first: libuv hands its address back */
    struct jobs *jobs;
    haft_id target;
    struct followers followers;
};

/* On a thread of the pool. */
static void run(uv_work_t *request)
{
    struct work *work = (struct work *)(void *)request;

    work->followers = job_run(work->jobs, work->target);
}

static void submit(struct jobs *jobs, haft_id target);

/* On the loop's thread. */
static void submit_followers(uv_work_t *request, int status)
{
    struct work *work = (struct work *)(void *)request;

    (void)status;
    for (unsigned i = 0; i < work->followers.count; i++) {
        submit(work->jobs, work->followers.targets[i]);
    }
    free(work);
}

static void submit(struct jobs *jobs, haft_id target)
{
    struct work *work = malloc(sizeof *work);

    if (work == NULL) {
        abort();
    }
    *work = (struct work){.jobs = jobs, .target = target};
    uv_queue_work(uv_default_loop(), &work->request, run, submit_followers);
}

bool job_system_run(struct jobs *jobs)
{
    char threads[8];

    snprintf(threads, sizeof threads, "%u", jobs->setting.threads);
    setenv("UV_THREADPOOL_SIZE", threads, 1);
    for (int i = 0; i < AT_ONCE; i++) {
        submit(jobs, HAFT_NIL);
    }
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    uv_loop_close(uv_default_loop());
    uv_library_shutdown(); /* the threads end: they live as long as the process otherwise */
    return true;
}

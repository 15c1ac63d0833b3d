/* GLib's thread pool: any thread may push a job, also a job. */
#include "jobs.h"
#include <glib.h>

const struct job_system job_system = {
    .name = "jobs_glib",
    .title = "GLib's GThreadPool",
    .clock = HAFT_CLOCK_CALLER,
};

static GThreadPool *pool;
static gint pending;       /* jobs pushed and not run */
static GAsyncQueue *ended; /* one entry, when there are no more */

static void submit(haft_id target)
{
    g_atomic_int_inc(&pending);
    g_thread_pool_push(pool, g_memdup2(&target, sizeof target), NULL);
}

static void run(gpointer target, gpointer jobs)
{
    const struct followers followers = job_run(jobs, *(const haft_id *)target);

    for (unsigned i = 0; i < followers.count; i++) {
        submit(followers.targets[i]);
    }
    g_free(target);
    if (g_atomic_int_dec_and_test(&pending)) {
        g_async_queue_push(ended, &ended);
    }
}

bool job_system_run(struct jobs *jobs)
{
    g_thread_pool_set_max_unused_threads(0); /* threads end with their pool */
    pool = g_thread_pool_new(run, jobs, (gint)jobs->setting.threads, TRUE, NULL);
    if (pool == NULL) {
        return false;
    }
    ended = g_async_queue_new();
    g_atomic_int_inc(&pending); /* for this loop */
    for (int i = 0; i < AT_ONCE; i++) {
        submit(HAFT_NIL);
    }
    if (!g_atomic_int_dec_and_test(&pending)) {
        g_async_queue_pop(ended);
    }
    g_thread_pool_free(pool, FALSE, TRUE);
    g_async_queue_unref(ended);
    return true;
}

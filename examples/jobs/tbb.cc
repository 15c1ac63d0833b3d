/* oneTBB's tasks: any task may run others; threads without work spin, then sleep. */
#include "examples/jobs/jobs.h"
#include <new>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

const struct job_system job_system = {
    "jobs_tbb",
    "oneTBB's tasks",
    HAFT_CLOCK_WORKERS,
    false,
};

static void run(struct jobs *jobs, tbb::task_group &group, haft_id target)
{
    group.run([jobs, &group, target] {
        const struct followers followers = job_run(jobs, target);

        for (unsigned i = 0; i < followers.count; i++) {
            run(jobs, group, followers.targets[i]);
        }
    });
}

static void run_all(struct jobs *jobs)
{
    const unsigned threads = jobs->setting.threads;
    tbb::global_control most(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));

    arena.execute([jobs] {
        tbb::task_group group;

        for (int i = 0; i < AT_ONCE; i++) {
            run(jobs, group, HAFT_NIL);
        }
        group.wait(); /* this thread runs jobs as well */
    });
}

bool job_system_run(struct jobs *jobs)
{
    tbb::task_scheduler_handle threads{tbb::attach{}};

    run_all(jobs);
    return tbb::finalize(threads, std::nothrow); /* the threads end, and close their workers */
}

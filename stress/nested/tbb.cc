/* oneTBB: the thread that waits for a group runs tasks of any group. */
#include "stress/nested/edges.h"
#include "stress/nested/nested.h"
#include <new>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

extern "C" void system_run_jobs(unsigned count, void (*run)(void *arg, unsigned number), void *arg)
{
    jobs jobs = {run, arg, 0, 0};
    tbb::task_group group;

    jobs_begin(&jobs);
    for (unsigned i = 0; i < count; i++) {
        group.run([&jobs, i] { jobs_run_one(&jobs, i); });
    }
    group.wait();
    jobs_end(&jobs);
}

extern "C" void system_run(unsigned threads, void (*root)(void *arg), void *arg)
{
    tbb::task_scheduler_handle handle{tbb::attach{}};
    {
        tbb::global_control most(tbb::global_control::max_allowed_parallelism, threads);
        tbb::task_arena arena(static_cast<int>(threads));

        arena.execute([root, arg] { root(arg); });
    }
    nested_leave();
    if (!tbb::finalize(handle, std::nothrow)) { /* the threads end, and close their workers */
        std::terminate();
    }
}

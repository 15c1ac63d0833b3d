/* OpenMP: making a task, and taskwait, are points where the thread may run others. */
#include "stress/nested/edges.h"
#include "stress/nested/nested.h"

/*
 * ThreadSanitizer asks for this.  libgomp copies and frees its own tasks, in an order that it
 * cannot see; what jobs do is none of these calls.
 */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:libgomp.so.1";
}

void system_run_jobs(unsigned count, void (*run)(void *arg, unsigned number), void *arg)
{
    struct jobs jobs = {run, arg, 0, 0};
    struct jobs *own = &jobs;

    jobs_begin(own);
    for (unsigned i = 0; i < count; i++) {
#pragma omp task firstprivate(own, i)
        jobs_run_one(own, i);
    }
#pragma omp taskwait
    jobs_end(own);
}

void system_run(unsigned threads, void (*root)(void *arg), void *arg)
{
    static char left; /* from each thread to the one that goes on, in the barrier at the end */

#pragma omp parallel num_threads(threads)
    {
#pragma omp single
        root(arg);
        nested_leave(); /* OpenMP keeps its threads */
        note_release(&left);
    }
    note_acquire(&left);
}

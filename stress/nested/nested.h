/*
 * stress/nested/nested.h - jobs that wait for their own jobs, on whatever runs them.
 *
 *   nested.c             the workload
 *   pool.c               the project's pool, which ThreadSanitizer sees through
 *   tbb.cc, openmp.c     systems that it does not see through
 *   edges.h              so these two, which are not instrumented, tell it what a system promises:
 *                        from a job to the jobs it begins, and from their end to its going on
 */
#ifndef HAFT_STRESS_NESTED_H
#define HAFT_STRESS_NESTED_H

#ifdef __cplusplus
extern "C" {
#endif

/* In `threads` threads: root(arg) on one of them; then nested_leave() on each, or each ends. */
void system_run(unsigned threads, void (*root)(void *arg), void *arg);

/*
 * job(arg, 0) to job(arg, count - 1), on any of the threads; returns when all have ended.  The
 * calling thread may run them, and other jobs, meanwhile.
 */
void system_run_jobs(unsigned count, void (*job)(void *arg, unsigned number), void *arg);

/* The calling thread runs no more jobs: its worker closes, as it does when a thread ends. */
void nested_leave(void);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_STRESS_NESTED_H */

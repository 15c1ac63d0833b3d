/* stress/nested/edges.h - what a job system promises, told to ThreadSanitizer. */
#ifndef HAFT_STRESS_NESTED_EDGES_H
#define HAFT_STRESS_NESTED_EDGES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Null in programs without the sanitizer: the files that include this are never built with it. */
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#ifdef __cplusplus
}
#endif

/* The jobs that one job waits for. */
struct jobs {
    void (*run)(void *arg, unsigned number);
    void *arg;
    char begin; /* from the job that waits to its jobs */
    char end;   /* from them to it */
};

static inline void note_release(void *address)
{
    if (__tsan_release != NULL) {
        __tsan_release(address);
    }
}

static inline void note_acquire(void *address)
{
    if (__tsan_acquire != NULL) {
        __tsan_acquire(address);
    }
}

/* Before they are handed to the system. */
static inline void jobs_begin(struct jobs *jobs)
{
    note_release(&jobs->begin);
}

static inline void jobs_run_one(struct jobs *jobs, unsigned number)
{
    note_acquire(&jobs->begin);
    jobs->run(jobs->arg, number);
    note_release(&jobs->end);
}

/* After the system has said that all have ended. */
static inline void jobs_end(struct jobs *jobs)
{
    note_acquire(&jobs->end);
}

#endif /* HAFT_STRESS_NESTED_EDGES_H */

/*
 * jobs.h - one workload on four job systems, whose jobs share a table and hand each other ids.
 *
 *   monsters.c   the workload: what a job does, which jobs follow it
 *   crew.c       the worker of each of the system's threads
 *   main.c       options, domain and table, report
 *   glib.c, libuv.c, openmp.c, tbb.cc   a system each; one of them is linked
 *
 * A job is an id: that of a monster to hit, or nil, to spawn one.  A spawned monster has three
 * lives and four hits coming.  The hit that takes its last life frees it and has the next one
 * spawned, which soon lives in the slot of one before; a hit that comes too late finds a stale id.
 */
#ifndef EXAMPLES_JOBS_JOBS_H
#define EXAMPLES_JOBS_JOBS_H

#include <haft/domain.h>
#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AT_ONCE = 1000, MONSTERS = 100000, LIVES = 3, HITS = 4 };

struct setting {
    unsigned threads;
    haft_clock clock;
    const haft_foreign_clock *foreign_clock;
    unsigned block_ms; /* how long one job blocks at most; 0: none does */
    bool lets_go;      /* it parks meanwhile */
    unsigned stall_ms; /* a longer grace period is reported */
};

struct jobs {
    struct setting setting;
    haft_domain *domain;
    haft_table *table;
};

/* --- a system --- */

struct job_system {
    const char *name;
    const char *title;
    haft_clock clock; /* the one that suits it best */
    bool has_frames;  /* it calls jobs_end_frame() */
};

extern const struct job_system job_system;

/*
 * Runs AT_ONCE spawn jobs and all that follow, then returns; false if the system gives no threads.
 * Its threads have ended by then or soon will, or have called crew_leave().
 */
bool job_system_run(struct jobs *jobs);

/* --- what it calls, from any of its threads --- */

/* The jobs to be run after one. */
struct followers {
    unsigned count;
    haft_id targets[HITS];
};

/* Runs a job.  Afterwards the calling thread has no pointer, and no grace period waits for it. */
struct followers job_run(struct jobs *jobs, haft_id target);

/* Between two frames, when no job runs. */
void jobs_end_frame(struct jobs *jobs);

/* --- crew.c --- */

/*
 * Begins a job; `*state` is for haft_job_end().  Returns the calling thread's worker: the first
 * call opens it; it is closed when the thread ends or calls crew_leave().
 */
haft_worker *crew_begin_job(struct jobs *jobs, haft_job_state *state);
void crew_leave(struct jobs *jobs);

/* Returns when no thread has a worker. */
void crew_await(struct jobs *jobs);

/* --- monsters.c --- */

struct outcome {
    unsigned deaths;
    unsigned late;                  /* hits that came too late */
    uint64_t blocked_ns;            /* for how long the job that blocks did */
    uint64_t blocked_grace_periods; /* that ended meanwhile */
    unsigned blocked_deaths;
};

struct outcome monsters_outcome(void);

#ifdef __cplusplus
}
#endif

#endif /* EXAMPLES_JOBS_JOBS_H */

/*
 * OpenMP's tasks, in frames: all jobs at hand are a loop of tasks, and what follows from them is
 * the next frame's loop.
 *
 * Not a task for each job that makes others: a runtime with enough tasks waiting runs a new one
 * inside the one that makes it, and so on, until the stack ends.
 */
#include "jobs.h"
#include <assert.h>
#include <omp.h>
#include <stdlib.h>

const struct job_system job_system = {
    .name = "jobs_openmp",
    .title = "OpenMP's tasks",
    .clock = HAFT_CLOCK_FRAME,
    .has_frames = true,
};

enum { MOST_JOBS = AT_ONCE * HITS, JOBS_IN_A_TASK = 16 };

struct frame {
    unsigned count;
    haft_id jobs[MOST_JOBS];
    struct followers followers[MOST_JOBS];
};

static void run(struct jobs *jobs, struct frame *frame)
{
#pragma omp taskloop grainsize(JOBS_IN_A_TASK)
    for (unsigned i = 0; i < frame->count; i++) {
        frame->followers[i] = job_run(jobs, frame->jobs[i]);
    }
}

/* The followers are the frame's jobs now. */
static void advance(struct frame *frame)
{
    unsigned count = 0;

    for (unsigned i = 0; i < frame->count; i++) {
        for (unsigned j = 0; j < frame->followers[i].count; j++) {
            assert(count < MOST_JOBS);
            frame->jobs[count++] = frame->followers[i].targets[j];
        }
    }
    frame->count = count;
}

bool job_system_run(struct jobs *jobs)
{
    struct frame *frame = calloc(1, sizeof *frame);

    if (frame == NULL) {
        return false;
    }
    frame->count = AT_ONCE; /* all nil: spawn jobs */
#pragma omp parallel num_threads(jobs->setting.threads)
    {
#pragma omp single
        while (frame->count != 0) {
            run(jobs, frame);
            jobs_end_frame(jobs); /* the tasks have ended: none holds a pointer */
            advance(frame);
        }
        crew_leave(jobs); /* OpenMP keeps its threads, so they close their workers themselves */
    }
    free(frame);
    return true;
}

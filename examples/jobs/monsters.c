/* What a job does.  It knows ids, a table and its thread's worker; no job system. */
#include "jobs.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static atomic_int unborn = MONSTERS;
static atomic_uint deaths, late;
static struct outcome blocked; /* by the one job that does */

struct outcome monsters_outcome(void)
{
    struct outcome outcome = blocked;

    outcome.deaths = deaths;
    outcome.late = late;
    return outcome;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* As if it waited for a disk: until all monsters have died, or block_ms are over. */
static void sleep_long(const struct setting *setting)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    const uint64_t end = now_ns() + setting->block_ms * UINT64_C(1000000);

    while (deaths != MONSTERS && now_ns() < end) {
        nanosleep(&moment, NULL);
    }
}

static void block_and_measure(const struct jobs *jobs)
{
    const uint64_t began = now_ns();
    const unsigned before = deaths;
    const uint64_t periods = haft_domain_stats_get(jobs->domain).grace_periods;

    sleep_long(&jobs->setting);
    blocked.blocked_ns = now_ns() - began;
    blocked.blocked_deaths = deaths - before;
    blocked.blocked_grace_periods = haft_domain_stats_get(jobs->domain).grace_periods - periods;
}

static void block(struct jobs *jobs)
{
    if (jobs->setting.lets_go) {
        /* No pointer is held: what others free may be reused. */
        const haft_job_state parked = haft_thread_park(jobs->domain);

        block_and_measure(jobs);
        haft_thread_unpark(jobs->domain, parked);
    } else {
        block_and_measure(jobs); /* all that others free meanwhile must wait for this job */
    }
}

static struct followers hit(struct jobs *jobs, haft_worker *worker, haft_id target)
{
    struct followers followers = {.count = 0};

    /* A monster found here stays in place until the job ends. */
    atomic_int *lives = haft_resolve(haft_table_view(jobs->table), target);
    /* Its lifetime is the table's care, its contents are ours: other jobs hit it as well. */
    const int before = lives == NULL ? 0 : atomic_fetch_sub(lives, 1);

    if (before == 1 && haft_free(worker, target) == HAFT_OK) {
        followers.count = 1; /* a nil target: spawn */
        if (atomic_fetch_add(&deaths, 1) + 1 == MONSTERS / 10 && jobs->setting.block_ms != 0) {
            block(jobs);
        }
    } else if (before <= 0) {
        atomic_fetch_add(&late, 1);
    }
    return followers;
}

static struct followers spawn(haft_worker *worker)
{
    const int lives = LIVES;
    struct followers followers = {.count = 0};
    haft_id monster;

    if (atomic_fetch_sub(&unborn, 1) <= 0) {
        return followers;
    }
    const haft_status status = haft_insert_wait(worker, &lives, &monster);

    if (status == HAFT_BUSY) { /* the frame clock: there will be slots in the next frame */
        atomic_fetch_add(&unborn, 1);
        followers.count = 1;
        return followers;
    }
    if (status != HAFT_OK) {
        fprintf(stderr, "no slot for a monster: %s\n", haft_status_text(status));
        abort();
    }
    while (followers.count < HITS) {
        followers.targets[followers.count++] = monster;
    }
    return followers;
}

struct followers job_run(struct jobs *jobs, haft_id target)
{
    haft_job_state state;
    haft_worker *worker = crew_begin_job(jobs, &state);
    const struct followers followers =
        haft_id_is_nil(target) ? spawn(worker) : hit(jobs, worker, target);

    haft_worker_quiescent(worker);     /* here no pointer is held ... */
    haft_job_end(jobs->domain, state); /* ... and a thread without a job keeps no other waiting */
    return followers;
}

void jobs_end_frame(struct jobs *jobs)
{
    if (jobs->setting.clock == HAFT_CLOCK_FRAME) {
        haft_domain_tick(jobs->domain);
    }
}

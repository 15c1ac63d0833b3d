/*
 * Jobs and hand-offs.
 *
 * Each traced thread of each replay in flight is a job.  A job carries rows out until it has
 * done its share, and is then pushed again; or until a row must wait for another thread's row of
 * the same object.  Then the job is parked at that hand-off: it leaves its worker, and the job
 * that carries the earlier row out pushes it again.  No thread waits, inside a read section or
 * outside, and a job that could do nothing is not run.  There is always one that can: the
 * earliest row in the file that has not been carried out waits for nothing.
 *
 * A hand-off is one byte.  OPEN -> PARKED by the job that waits, with CAS; either -> PASSED by
 * the job that passes it on, with an exchange.  Both acquire and release: what happened to an
 * object is visible to its next row, and a parked job's position to the job that pushes it.
 */
#include "run.h"

enum handoff { OPEN, PARKED, PASSED };

enum { ROWS_PER_JOB = 512, USES_PER_SECTION = 64 };

static bool is_ready(struct replay *replay, const struct row *row)
{
    return row->waits_for == NO_HANDOFF ||
           atomic_load_explicit(&replay->handoffs[row->waits_for], memory_order_acquire) == PASSED;
}

/* True if the row has to wait: its job may run elsewhere from now on, and is not to be touched. */
static bool park(struct replay *replay, const struct row *row)
{
    unsigned char handoff = OPEN;

    return row->waits_for != NO_HANDOFF && atomic_compare_exchange_strong_explicit(
                                               &replay->handoffs[row->waits_for], &handoff, PARKED,
                                               memory_order_acq_rel, memory_order_acquire);
}

static void hand_on(struct replay *replay, const struct row *row)
{
    if (row->hands_on != NO_HANDOFF &&
        atomic_exchange_explicit(&replay->handoffs[row->hands_on], PASSED, memory_order_acq_rel) ==
            PARKED) {
        const uint32_t waiting = replay->run->trace->handoffs[row->hands_on];

        job_pool_push(&replay->run->pool, &replay->jobs[waiting]);
    }
}

/* Uses that can follow each other share a read section.  Returns how many did. */
static uint32_t use_rows(struct member *member, struct replay *replay, const struct row *rows,
                         uint32_t count)
{
    uint32_t used = 0;

    haft_section_begin(member->run->domain);
    do {
        check_use(member, replay, &rows[used]);
        used++;
    } while (used < count && used < USES_PER_SECTION && rows[used].op == OP_USE &&
             rows[used - 1].hands_on == NO_HANDOFF && is_ready(replay, &rows[used]));
    haft_section_end(member->run->domain);
    return used;
}

static uint32_t carry_out(struct member *member, struct replay *replay, const struct row *rows,
                          uint32_t count)
{
    switch (rows->op) {
    case OP_ALLOCATE:
        check_allocate(member, replay, rows);
        return 1;
    case OP_FREE:
        check_free(member, replay, rows);
        return 1;
    case OP_USE:
        break;
    }
    return use_rows(member, replay, rows, count);
}

static void end_job(struct member *member, struct replay *replay)
{
    if (atomic_fetch_sub_explicit(&replay->jobs_left, 1, memory_order_acq_rel) != 1) {
        return;
    }
    struct run *run = replay->run;

    check_end(member, replay);
    schedule_begin(replay);
    pthread_mutex_lock(&run->lock);
    run->replays_done++;
    if (run->replays_done == run->options->repeat) {
        pthread_cond_signal(&run->changed);
    }
    pthread_mutex_unlock(&run->lock);
}

/* Returns whether the job is to be pushed again; if not, it may be running again already. */
static bool advance(struct member *member, struct job *job)
{
    struct replay *replay = job->replay;
    const struct traced_thread *thread = job->thread;
    uint32_t left = ROWS_PER_JOB;

    while (job->next < thread->row_count && left != 0) {
        const struct row *rows = &thread->rows[job->next];

        if (park(replay, rows)) {
            return false;
        }
        const uint32_t rest = thread->row_count - job->next;
        const uint32_t done = carry_out(member, replay, rows, rest < left ? rest : left);

        job->next += done;
        left -= done;
        member->tally.rows += done;
        hand_on(replay, &rows[done - 1]);
        check_at_random(member);
    }
    if (job->next < thread->row_count) {
        return true;
    }
    end_job(member, replay);
    return false;
}

static void run_job(struct member *member, struct job *job)
{
    struct run *run = member->run;
    const uint64_t before = member->tally.rows;

    haft_thread_online(run->domain);
    if (advance(member, job)) {
        job_pool_push(&run->pool, job);
    }
    atomic_fetch_add_explicit(&run->rows_done, member->tally.rows - before, memory_order_relaxed);
    haft_worker_quiescent(member->worker);
    haft_thread_offline(run->domain);
}

void *schedule_work(void *data)
{
    struct run *run = data;
    struct member *member = member_join(run);
    struct job *job;

    haft_thread_offline(run->domain); /* while it waits for a job */
    while ((job = job_pool_take(&run->pool)) != NULL) {
        run_job(member, job);
    }
    member_leave(member);
    return NULL;
}

void schedule_begin(struct replay *replay)
{
    struct run *run = replay->run;
    const uint64_t number = atomic_fetch_add(&run->next_repeat, 1);

    if (number >= run->options->repeat) {
        return;
    }
    replay->number = number;
    atomic_store(&replay->jobs_left, run->trace->thread_count);
    for (uint32_t i = 0; i < run->trace->handoff_count; i++) {
        atomic_store_explicit(&replay->handoffs[i], OPEN, memory_order_relaxed);
    }
    for (uint32_t i = 0; i < run->trace->thread_count; i++) {
        replay->jobs[i] = (struct job){.replay = replay, .thread = &run->trace->threads[i]};
    }
    for (uint32_t i = 0; i < run->trace->thread_count; i++) {
        job_pool_push(&run->pool, &replay->jobs[i]);
    }
}

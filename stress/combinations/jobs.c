/*
 * Jobs and parks: which job is an outermost one, and what holds until when.
 *
 * A seat's level is 0 where no grace period waits for it, 1 in an outermost job or online without
 * one, and more in inner jobs.  The states that the library returns must say the same.
 */
#include "stress/combinations/jobs.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"

/* The thread had nothing to keep a state in, as haft_job_begin() and haft_thread_park() allow. */
static bool is_unknown(haft_job_state state)
{
    return state.open == UINT32_MAX;
}

uint32_t known_jobs(const struct seat *seat)
{
    uint32_t known = 0;

    for (uint32_t i = 0; i < seat->job_count; i++) {
        known += !is_unknown(seat->jobs[i].state);
    }
    return known;
}

void settle_level(struct seat *seat)
{
    review_lift(seat);
    if (is_clock(PLAN_WORKERS) && seat->workers == 0 && known_jobs(seat) == 0) {
        seat->level = 0;
        seat->lift.lasts = false;
    }
}

void review_lift(struct seat *seat)
{
    struct lift *lift = &seat->lift;

    if (lift->lasts && known_jobs(seat) < lift->jobs) {
        lift->lasts = false;
    }
    if (lift->lasts && lift->workers == 0 && known_jobs(seat) == lift->jobs) {
        lift->lasts = false;
        seat->level = 0;
    }
}

struct job *last_known_job(struct seat *seat)
{
    uint32_t i = seat->job_count;

    while (i != 0 && is_unknown(seat->jobs[i - 1].state)) {
        i--;
    }
    return i != 0 ? &seat->jobs[i - 1] : NULL;
}

bool seat_is_parked(struct seat *seat)
{
    const struct lift *lift = &seat->lift;
    const struct job *job = last_known_job(seat);

    return job != NULL && job->is_park &&
           !(lift->lasts && (known_jobs(seat) == lift->jobs || job->is_lifted));
}

/* Whether the pointers that the seat has become void at this level; frames end with a tick. */
static bool voids(const struct seat *seat, uint32_t level)
{
    return level == 0 && seat->depth == 0 && !is_clock(PLAN_FRAME);
}

static void push(struct seat *seat, haft_job_state state, bool is_park)
{
    const uint32_t level = seat_is_parked(seat) ? (uint32_t)PARKED : seat->level;

    seat->jobs[seat->job_count++] = (struct job){
        .state = state, .is_park = is_park, .level = seat->level, .depth = seat->depth};
    if (!is_unknown(state)) {
        require_that(is_clock(PLAN_FRAME) || state.level == level, "the level of a job");
        seat->level = is_park ? 0 : seat->level + 1;
    }
}

static void begin_job(struct seat *seat)
{
    const struct call_under_way outer = begin_call(CALL_JOB_BEGIN, HAFT_NIL);

    push(seat, haft_job_begin(play.domain), false);
    end_call(outer);
}

/* The last one ends. */
static void end_job(struct seat *seat)
{
    const struct job job = seat->jobs[seat->job_count - 1];
    const struct call_under_way outer =
        begin_call(job.is_park ? CALL_UNPARK : CALL_JOB_END, HAFT_NIL);

    seat->job_count--;
    seat->level = is_unknown(job.state) ? seat->level : job.level;
    settle_level(seat);
    if (voids(seat, seat->level)) {
        release_held(seat);
    }
    if (job.is_park) {
        haft_thread_unpark(play.domain, job.state);
    } else {
        haft_job_end(play.domain, job.state);
    }
    end_call(outer);
    check_held(seat);
}

/* A thread that a foreign clock does not know has no jobs. */
static bool may_begin(const struct seat *seat)
{
    return seat->job_count != MOST_JOBS && (seat->is_registered || !(has_sections() || is_qsbr()));
}

static bool may_end_job(const struct seat *seat)
{
    return seat->job_count != 0 && seat->jobs[seat->job_count - 1].depth == seat->depth;
}

void end_jobs(struct thread *thread)
{
    while (may_end_job(thread->seat)) {
        end_job(thread->seat);
    }
}

/* A job within a callback ends with it; one from offline is an outermost one. */
void step_job_begin(struct thread *thread, haft_worker *worker, const struct step *step)
{
    struct seat *seat = thread->seat;

    if (!may_begin(seat)) {
        return;
    }
    if (in_callback(thread)) {
        begin_job(seat);
        step_resolve(thread, worker, step);
        end_job(seat);
        return;
    }
    if (step->at % 2 != 0 && seat->level <= 1 && !seat_is_parked(seat)) {
        go_offline(thread);
    }
    begin_job(seat);
}

void step_job_end(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (!in_callback(thread) && may_end_job(thread->seat) && !seat_is_parked(thread->seat)) {
        end_job(thread->seat);
    }
}

void step_park(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    struct seat *seat = thread->seat;

    if (in_callback(thread) || seat->depth != 0 || !may_begin(seat)) {
        return;
    }
    if (voids(seat, 0)) {
        release_held(seat);
    }
    const struct call_under_way outer = begin_call(CALL_PARK, HAFT_NIL);

    push(seat, haft_thread_park(play.domain), true);
    end_call(outer);
}

void step_unpark(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (!in_callback(thread) && may_end_job(thread->seat) && seat_is_parked(thread->seat)) {
        end_job(thread->seat);
    }
}

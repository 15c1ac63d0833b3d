/* Workers of the plan's threads. */
#include "stress/combinations/workers.h"
#include "stress/combinations/jobs.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"

/* With the workers clock a thread's first worker may be refused until the end of a job whose state
 * the library had no memory to keep. */
bool is_done(haft_status status, const char *call)
{
    const struct seat *seat = current->seat;
    const bool may_lack = play.memory_is_refused || known_jobs(seat) != seat->job_count;

    require_that(status == HAFT_OK || (status == HAFT_NO_MEMORY && may_lack), call);
    return status == HAFT_OK;
}

uint32_t note_worker_opened(struct seat *seat)
{
    struct lift *lift = &seat->lift;
    const bool is_inside = lift->lasts && known_jobs(seat) > lift->jobs;

    if (seat->workers++ == 0 && is_clock(PLAN_WORKERS) && known_jobs(seat) == 0) {
        seat->level = 1;
        return 0;
    }
    if (seat->level == 0 && (is_clock(PLAN_WORKERS) || (is_qsbr() && seat->is_registered))) {
        const bool was_parked = seat_is_parked(seat);

        if (!is_inside) {
            *lift = (struct lift){lift->number + 1, 0, known_jobs(seat), true, was_parked};
        } else {
            last_known_job(seat)->is_lifted = true;
        }
        seat->level = 1;
    }
    lift->workers += lift->lasts;
    return lift->lasts ? lift->number : 0;
}

static bool is_of_lift(const struct seat *seat, uint32_t lift)
{
    return seat->lift.lasts && seat->lift.number == lift;
}

void note_worker_closing(struct seat *seat, uint32_t lift)
{
    const bool is_last = seat->workers == 1 && is_clock(PLAN_WORKERS) && known_jobs(seat) == 0;
    const bool falls =
        is_of_lift(seat, lift) && seat->lift.workers == 1 && known_jobs(seat) == seat->lift.jobs;

    if (is_last || falls) {
        release_held(seat);
    }
}

void note_worker_closed(struct seat *seat, uint32_t lift)
{
    seat->workers--;
    seat->lift.workers -= is_of_lift(seat, lift);
    settle_level(seat);
}

void forget_workers(struct seat *seat)
{
    seat->workers = seat->other_worker != NULL;
    seat->lift.workers = seat->workers != 0 && is_of_lift(seat, seat->other_lift);
    settle_level(seat);
}

void begin_worker(struct thread *thread)
{
    if (thread->worker == NULL) {
        const struct call_under_way outer = begin_call(CALL_WORKER_OPEN, HAFT_NIL);

        const haft_status status = haft_worker_open(play.table, &thread->worker);

        end_call(outer);
        if (is_done(status, "haft_worker_open")) {
            thread->lift = note_worker_opened(thread->seat);
            thread->opened_in = in_callback(thread) ? thread->callbacks : 0;
        } else {
            thread->worker = NULL;
        }
    }
}

void end_worker(struct thread *thread)
{
    if (thread->worker == NULL) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_WORKER_CLOSE, HAFT_NIL);

    note_worker_closing(thread->seat, thread->lift);
    expect(haft_worker_close(thread->worker), HAFT_OK, "haft_worker_close");
    note_worker_closed(thread->seat, thread->lift);
    end_call(outer);
    thread->worker = NULL;
}

void step_quiescent(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)step;
    const bool is_inner = thread->seat->level > 1;
    const bool inside = waits_are_refused(thread);

    if (must_not_wait(thread) && !inside) {
        return;
    }
    expire_pointers(thread);
    const struct call_under_way outer = begin_call(CALL_QUIESCENT, HAFT_NIL);

    expect(haft_worker_quiescent(worker), inside && !is_inner ? HAFT_IN_SECTION : HAFT_OK,
           "haft_worker_quiescent");
    end_call(outer);
}

void step_flush(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    (void)step;
    const struct call_under_way outer = begin_call(CALL_FLUSH, HAFT_NIL);

    expect(haft_worker_flush(worker), HAFT_OK, "haft_worker_flush");
    end_call(outer);
}

void step_worker_open(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (thread->seat->has_begun && !play.is_closing) {
        begin_worker(thread);
    }
}

void step_worker_close(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    end_worker(thread);
}

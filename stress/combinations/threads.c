/* A thread's state: its clock, its sections, and where it waits. */
#include "stress/combinations/threads.h"
#include "stress/combinations/census.h"
#include "stress/combinations/jobs.h"
#include "stress/combinations/memory.h"
#include "stress/combinations/refused.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/under_way.h"

bool in_callback(const struct thread *thread)
{
    return thread->seat->reclaims != 0;
}

bool is_clock(enum plan_clock clock)
{
    return play.plan->options.clock == (uint32_t)clock;
}

bool is_qsbr(void)
{
    return is_clock(PLAN_CALLER_QSBR) || is_clock(PLAN_THREAD_QSBR);
}

bool has_sections(void)
{
    return is_clock(PLAN_CALLER_MEMB) || is_clock(PLAN_THREAD_MEMB) || is_ck();
}

bool is_ck(void)
{
    return is_clock(PLAN_CALLER_CK) || is_clock(PLAN_THREAD_CK);
}

bool waits_are_refused(const struct thread *thread)
{
    return !is_clock(PLAN_FRAME) && (thread->seat->depth != 0 || thread->seat->level > 1);
}

bool must_not_wait(const struct thread *thread)
{
    return in_callback(thread) || waits_are_refused(thread);
}

bool may_resolve(const struct thread *thread)
{
    const struct seat *seat = thread->seat;

    return is_clock(PLAN_FRAME) || seat->depth != 0 ||
           (seat->level != 0 && (!is_clock(PLAN_WORKERS) || seat->workers != 0));
}

/* Turns: no other thread has met the object. */
bool may_stamp_zeros(const struct thread *thread)
{
    return !play.at_once && may_resolve(thread);
}

/* Its last look at what it holds comes before the end. */
static void leave_one_section(struct seat *seat)
{
    if (seat->depth == 1 && seat->level == 0) {
        release_held(seat);
    }
    haft_section_end(play.domain);
    seat->depth--;
}

void end_sections(struct thread *thread)
{
    struct seat *seat = thread->seat;

    check_held(seat);
    end_jobs(thread);
    while (seat->depth != 0) {
        leave_one_section(seat);
        end_jobs(thread);
    }
    release_held(seat);
}

void expire_pointers(struct thread *thread)
{
    if (!waits_are_refused(thread) && thread->seat->level <= 1) {
        release_held(thread->seat);
    }
}

static bool goes_offline(const struct seat *seat)
{
    return is_qsbr() || (is_clock(PLAN_WORKERS) && seat->workers != 0);
}

void go_offline(struct thread *thread)
{
    if (goes_offline(thread->seat)) {
        release_held(thread->seat);
        haft_thread_offline(play.domain);
        thread->seat->level = 0;
    }
}

void go_online(struct thread *thread)
{
    if (goes_offline(thread->seat)) {
        haft_thread_online(play.domain);
        if (thread->seat->level == 1 && !thread->seat->lift.was_parked) {
            thread->seat->lift.lasts = false; /* it takes back what came before the lift */
        }
        thread->seat->level = seat_is_parked(thread->seat) ? 0 : 1;
    }
}

void step_offline_online(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    const struct seat *seat = thread->seat;

    if (goes_offline(seat) && !in_callback(thread) && seat->level <= 1) {
        const struct call_under_way outer = begin_call(CALL_OFFLINE_ONLINE, HAFT_NIL);

        go_offline(thread);
        go_online(thread);
        end_call(outer);
    }
}

static haft_status wait_for_domain(void)
{
    return haft_domain_wait(play.domain);
}

void step_wait(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (waits_are_refused(thread)) {
        const struct call_under_way outer = begin_call(CALL_WAIT, HAFT_NIL);

        refuse_in_section(wait_for_domain, HAFT_IN_SECTION);
        end_call(outer);
    } else if (!must_not_wait(thread)) {
        expire_pointers(thread);
        const struct call_under_way outer = begin_call(CALL_WAIT, HAFT_NIL);
        const haft_domain_stats before = haft_domain_stats_get(play.domain);
        const haft_status status = haft_domain_wait(play.domain);

        end_call(outer);
        require_that(status == HAFT_OK || (status == HAFT_BUSY && is_clock(PLAN_FRAME)),
                     "haft_domain_wait");
        if (status == HAFT_OK) {
            check_grace(&before);
        }
    }
}

static haft_status reclaim_table(void)
{
    return haft_table_reclaim(play.table);
}

void step_reclaim(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (!waits_are_refused(thread) && must_not_wait(thread)) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_RECLAIM, HAFT_NIL);

    if (waits_are_refused(thread)) {
        refuse_in_section(reclaim_table, HAFT_IN_SECTION);
    } else {
        expire_pointers(thread);
        const haft_status status = haft_table_reclaim(play.table);

        /* Busy: on_reclaim has freed others. */
        require_that(status == HAFT_OK || status == HAFT_BUSY || lacks_memory(status),
                     "haft_table_reclaim");
    }
    end_call(outer);
}

/* --- sections --- */

void step_section_begin(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (thread->seat->is_registered && !in_callback(thread)) {
        const struct call_under_way outer = begin_call(CALL_SECTION_BEGIN, HAFT_NIL);

        haft_section_begin(play.domain);
        thread->seat->depth += has_sections();
        if (!has_sections()) {
            haft_section_end(play.domain);
        }
        end_call(outer);
    }
}

void step_section_end(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    struct seat *seat = thread->seat;
    const uint32_t outside = seat->job_count != 0 ? seat->jobs[seat->job_count - 1].depth : 0;

    if (seat->depth > outside && !in_callback(thread)) {
        const struct call_under_way outer = begin_call(CALL_SECTION_END, HAFT_NIL);

        leave_one_section(seat);
        end_call(outer);
    }
}

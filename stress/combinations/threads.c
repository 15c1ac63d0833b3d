/* What a thread is: its workers, its sections, and where it waits. */
#include "stress/combinations/calls.h"

/* One more call of the library. */
void count_call(void)
{
    atomic_fetch_add_explicit(&play.operations, 1, memory_order_relaxed);
}

void expect(haft_status answer, haft_status expected, const char *kind)
{
    if (answer != expected) {
        fail(kind, "%s, not %s", haft_status_name(answer), haft_status_name(expected));
    }
}

/* --- state --- */

bool in_callback(const struct thread *thread)
{
    return thread->seat->reclaims != 0 || thread->seat->fills != 0;
}

bool is_clock(enum plan_clock clock)
{
    return play.plan->options.clock == (uint32_t)clock;
}

bool is_qsbr(void)
{
    return is_clock(PLAN_CALLER_QSBR) || is_clock(PLAN_THREAD_QSBR);
}

bool is_memb(void)
{
    return is_clock(PLAN_CALLER_MEMB) || is_clock(PLAN_THREAD_MEMB);
}

uint32_t capacity_in_use(void)
{
    const uint32_t all = count_in(&play.live) + count_in(&play.reserved);

    return play.plan->options.exact_capacity ? all : all - count_in(&play.live_restored);
}

/* A thread that ended with its worker open holds the workers clock up until it is closed. */
bool may_not_wait(const struct thread *thread)
{
    return in_callback(thread) || thread->seat->depth != 0 ||
           (play.left != NULL && is_clock(PLAN_WORKERS));
}

bool may_resolve(const struct thread *thread)
{
    return is_memb() ? thread->seat->depth != 0 : !is_clock(PLAN_WORKERS) || thread->seat->workers;
}

void end_sections(struct thread *thread)
{
    let_go(thread->seat);
    while (thread->seat->depth != 0) {
        haft_section_end(play.domain);
        thread->seat->depth--;
    }
}

void pass_quiescent_point(struct thread *thread)
{
    if (!is_memb()) {
        let_go(thread->seat);
    }
}

/* --- workers --- */
void begin_worker(struct thread *thread)
{
    if (thread->worker == NULL) {
        expect(haft_worker_open(play.table, &thread->worker), HAFT_OK, "haft_worker_open");
        thread->is_implicit = false;
        thread->seat->workers++;
    }
}

void end_worker(struct thread *thread)
{
    if (thread->worker == NULL || thread->is_implicit) {
        return;
    }
    pass_quiescent_point(thread);
    expect(haft_worker_close(thread->worker), HAFT_OK, "haft_worker_close");
    thread->worker = NULL;
    thread->seat->workers--;
}

/* One thread of the system has one implicit worker. */
void step_current(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (thread->worker == NULL) {
        bool is_first = true;

        expect(haft_worker_current(play.table, &thread->worker), HAFT_OK, "haft_worker_current");
        for (uint32_t i = 0; i < play.plan->threads; i++) {
            const struct thread *other = &play.threads[i];

            is_first = is_first && (other == thread || other->worker != thread->worker);
        }
        thread->is_implicit = true;
        thread->seat->workers += is_first;
    }
}

void step_quiescent(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)step;
    const bool inside = is_memb() && thread->seat->depth != 0;

    if ((may_not_wait(thread) && !inside) || in_callback(thread)) {
        return;
    }
    pass_quiescent_point(thread);
    expect(haft_worker_quiescent(worker), inside ? HAFT_IN_SECTION : HAFT_OK,
           "haft_worker_quiescent");
}

void step_flush(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)step;
    if (!in_callback(thread)) {
        expect(haft_worker_flush(worker), HAFT_OK, "haft_worker_flush");
    }
}

void step_offline_online(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    const bool applies = is_qsbr() || (is_clock(PLAN_WORKERS) && thread->seat->workers != 0);

    if (applies && !in_callback(thread)) {
        let_go(thread->seat);
        haft_thread_offline(play.domain);
        haft_thread_online(play.domain);
    }
}

void step_wait(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (!may_not_wait(thread)) {
        pass_quiescent_point(thread);
        const haft_status status = haft_domain_wait(play.domain);

        require_that(status == HAFT_OK || (status == HAFT_BUSY && is_clock(PLAN_FRAME)),
                     "haft_domain_wait");
    }
}

/* --- insertion --- */
void step_section_begin(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (thread->seat->is_registered && !in_callback(thread)) {
        haft_section_begin(play.domain);
        thread->seat->depth += is_memb();
        if (!is_memb()) {
            haft_section_end(play.domain);
        }
    }
}

void step_section_end(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (thread->seat->depth != 0 && !in_callback(thread)) {
        if (thread->seat->depth == 1) {
            let_go(thread->seat);
        }
        haft_section_end(play.domain);
        thread->seat->depth--;
    }
}

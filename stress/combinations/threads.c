/* What a thread is: its workers, its sections, and where it waits. */
#include "stress/combinations/calls.h"
#include "stress/combinations/watch.h"

/* --- calls under way --- */

static uint32_t bit(enum phase phase, bool is_now)
{
    return (uint32_t)is_now << phase;
}

static uint32_t phases_of(haft_id id)
{
    const struct seat *seat = current->seat;
    const uint32_t capacity = play.plan->options.capacity;
    const uint32_t used = capacity_in_use();

    return bit(PHASE_first_use, used == 0 && word_in(&play.frees) == 0) |
           bit(PHASE_last_slot, used + 1 == capacity) | bit(PHASE_full, used >= capacity) |
           bit(PHASE_last_life, id.bits != 0 && is_last_life(id)) |
           bit(PHASE_exhausted, count_in(&play.exhausted) != 0) |
           bit(PHASE_ids_repeat, count_in(&play.ids_repeat) != 0) |
           bit(PHASE_trimming, count_in(&play.trimming) != 0) |
           bit(PHASE_closing, play.is_closing) | bit(PHASE_shared_again, play.is_shared_again) |
           bit(PHASE_left_worker, play.left != NULL) |
           bit(PHASE_budget_spent, shim_budget_is_spent(play.table)) |
           bit(PHASE_no_memory, play.is_refused) | bit(PHASE_forked, play.is_forked) |
           bit(PHASE_in_section, seat->depth != 0) | bit(PHASE_in_on_reclaim, seat->reclaims != 0) |
           bit(PHASE_in_on_fill, seat->fills != 0);
}

void note_overlaps(uint32_t call, uint32_t slot)
{
    for (uint32_t i = 0; play.at_once && slot != 0 && i < play.plan->threads; i++) {
        const struct thread *other = &play.threads[i];

        const uint64_t under_way = word_in(&other->under_way);

        if (other != current && (uint32_t)under_way == slot) {
            cover_overlap(&watch->cover, call, (uint32_t)(under_way >> 32));
        }
    }
}

struct call_under_way begin_call(enum call call, haft_id id)
{
    const struct call_under_way outer = {word_in(&current->under_way)};
    const uint32_t slot = haft_id_index(play.layout, id);

    atomic_fetch_add_explicit(&play.made[call], 1, memory_order_relaxed);
    cover_call(&watch->cover, call, phases_of(id));
    note_overlaps(call, slot);
    atomic_store_explicit(&current->under_way, (uint64_t)call << 32 | slot, memory_order_relaxed);
    return outer;
}

void end_call(struct call_under_way outer)
{
    atomic_store_explicit(&current->under_way, outer.word, memory_order_relaxed);
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

/* Else there was no memory for it, as may be. */
static bool is_done(haft_status status, const char *call)
{
    require_that(status == HAFT_OK || (status == HAFT_NO_MEMORY && play.is_refused), call);
    return status == HAFT_OK;
}

void begin_worker(struct thread *thread)
{
    if (thread->worker == NULL) {
        const struct call_under_way outer = begin_call(CALL_WORKER_OPEN, HAFT_NIL);

        const haft_status status = haft_worker_open(play.table, &thread->worker);

        end_call(outer);
        thread->is_implicit = false;
        if (is_done(status, "haft_worker_open")) {
            thread->seat->workers++;
        } else {
            thread->worker = NULL;
        }
    }
}

/*
 * Some of the plan's threads, which are one of the system in turns, may have the same implicit
 * worker.  At once, another thread may have opened the worker by now.
 */
static void forget_worker(struct thread *thread)
{
    const haft_worker *worker = thread->worker;

    thread->worker = NULL;
    for (uint32_t i = 0; !play.at_once && i < play.plan->threads; i++) {
        if (play.threads[i].worker == worker) {
            play.threads[i].worker = NULL;
        }
    }
}

void end_worker(struct thread *thread)
{
    if (thread->worker == NULL) {
        return;
    }
    pass_quiescent_point(thread);
    const struct call_under_way outer = begin_call(CALL_WORKER_CLOSE, HAFT_NIL);

    expect(haft_worker_close(thread->worker), HAFT_OK, "haft_worker_close");
    end_call(outer);
    forget_worker(thread);
    thread->seat->workers--;
}

/* One thread of the system has one implicit worker. */
void step_current(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (thread->worker == NULL && !in_callback(thread) && !play.at_once) {
        const struct call_under_way outer = begin_call(CALL_WORKER_CURRENT, HAFT_NIL);
        const haft_status status = haft_worker_current(play.table, &thread->worker);
        bool is_first = true;

        end_call(outer);
        if (!is_done(status, "haft_worker_current")) {
            thread->worker = NULL;
            return;
        }
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

    if (may_not_wait(thread) && !inside) {
        return;
    }
    pass_quiescent_point(thread);
    const struct call_under_way outer = begin_call(CALL_QUIESCENT, HAFT_NIL);

    expect(haft_worker_quiescent(worker), inside ? HAFT_IN_SECTION : HAFT_OK,
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

void step_offline_online(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    const bool applies = is_qsbr() || (is_clock(PLAN_WORKERS) && thread->seat->workers != 0);

    if (applies && !in_callback(thread)) {
        let_go(thread->seat);
        const struct call_under_way outer = begin_call(CALL_OFFLINE_ONLINE, HAFT_NIL);

        haft_thread_offline(play.domain);
        haft_thread_online(play.domain);
        end_call(outer);
    }
}

void step_wait(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (!may_not_wait(thread)) {
        pass_quiescent_point(thread);
        const struct call_under_way outer = begin_call(CALL_WAIT, HAFT_NIL);
        const haft_status status = haft_domain_wait(play.domain);

        end_call(outer);
        require_that(status == HAFT_OK || (status == HAFT_BUSY && is_clock(PLAN_FRAME)),
                     "haft_domain_wait");
    }
}

/* --- sections --- */

void step_section_begin(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (thread->seat->is_registered && !in_callback(thread)) {
        const struct call_under_way outer = begin_call(CALL_SECTION_BEGIN, HAFT_NIL);

        haft_section_begin(play.domain);
        thread->seat->depth += is_memb();
        if (!is_memb()) {
            haft_section_end(play.domain);
        }
        end_call(outer);
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
        const struct call_under_way outer = begin_call(CALL_SECTION_END, HAFT_NIL);

        haft_section_end(play.domain);
        thread->seat->depth--;
        end_call(outer);
    }
}

/* Which function carries a step out, and the table's callbacks, which carry out some themselves. */
#include "stress/combinations/calls.h"
#include "stress/combinations/watch.h"
#include <stddef.h>

static void step_worker_open(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (!in_callback(thread)) {
        begin_worker(thread);
    }
}

static void step_worker_close(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (!in_callback(thread)) {
        end_worker(thread);
    }
}

/* Through which worker a call goes: the one at hand, that one if there is one, or none. */
enum way { AS_IS, BY_WORKER, BARE };

static const struct {
    step_call *call;
    enum way way;
} functions[CALL_COUNT] = {
    [CALL_WORKER_OPEN] = {step_worker_open, AS_IS},
    [CALL_WORKER_CLOSE] = {step_worker_close, AS_IS},
    [CALL_WORKER_CURRENT] = {step_current, AS_IS},
    [CALL_QUIESCENT] = {step_quiescent, BY_WORKER},
    [CALL_FLUSH] = {step_flush, BY_WORKER},
    [CALL_OFFLINE_ONLINE] = {step_offline_online, AS_IS},
    [CALL_INSERT] = {step_insert, BY_WORKER},
    [CALL_INSERT_WAIT] = {step_insert_wait, BY_WORKER},
    [CALL_INSERT_MANY] = {step_insert_many, BY_WORKER},
    [CALL_RESERVE] = {step_reserve, BY_WORKER},
    [CALL_PUBLISH] = {step_publish, BY_WORKER},
    [CALL_ABORT] = {step_abort, BY_WORKER},
    [CALL_FREE] = {step_free, BY_WORKER},
    [CALL_FREE_STALE] = {step_free_stale, BY_WORKER},
    [CALL_FREE_MANY] = {step_free_many, BY_WORKER},
    [CALL_BARE_INSERT] = {step_insert, BARE},
    [CALL_BARE_RESERVE] = {step_reserve, BARE},
    [CALL_BARE_PUBLISH] = {step_publish, BARE},
    [CALL_BARE_ABORT] = {step_abort, BARE},
    [CALL_BARE_FREE] = {step_free, BARE},
    [CALL_RESTORE] = {step_restore, BY_WORKER},
    [CALL_SECTION_BEGIN] = {step_section_begin, AS_IS},
    [CALL_SECTION_END] = {step_section_end, AS_IS},
    [CALL_RESOLVE] = {step_resolve, AS_IS},
    [CALL_PIN] = {step_pin, AS_IS},
    [CALL_UNPIN] = {step_unpin, AS_IS},
    [CALL_SCAN] = {step_scan, AS_IS},
    [CALL_DIAGNOSE] = {step_diagnose, AS_IS},
    [CALL_TRIM] = {step_trim, AS_IS},
    [CALL_RECYCLE] = {step_recycle, AS_IS},
    [CALL_WAIT] = {step_wait, AS_IS},
};

void call_step(struct thread *thread, haft_worker *worker, const struct step *step)
{
    const enum way way = functions[step->call].way;

    watch->call = step->call;
    if (way != BY_WORKER || worker != NULL) {
        functions[step->call].call(thread, way == BARE ? NULL : worker, step);
    }
    check_held(thread->seat);
}

/* The plan's next step for a callback; none if it has none. */
static void call_next(const struct step *steps, uint32_t step_count, _Atomic(uint32_t) *next,
                      haft_worker *worker)
{
    if (step_count != 0) {
        const uint32_t at = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
        const struct step *step = &steps[at % step_count];

        if (worker != NULL || step->call == CALL_UNPIN || step->call == CALL_DIAGNOSE) {
            call_step(current, worker, step);
        }
    }
}

void reclaim_callback(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct seat *seat = current->seat;

    (void)arg;
    atomic_fetch_add_explicit(&play.callbacks, 1, memory_order_relaxed);
    require_that(seat->reclaims == 0, "on_reclaim runs within on_reclaim");
    model_reclaimed(id, object);
    seat->reclaims++;
    call_next(play.plan->on_reclaim, play.plan->reclaim_count, &play.reclaim_step, worker);
    seat->reclaims--;
}

void fill_callback(const haft_fill *fill, void *arg)
{
    struct seat *seat = current->seat;

    (void)arg;
    atomic_fetch_add_explicit(&play.callbacks, 1, memory_order_relaxed);
    require_that(seat->fills == 0, "on_fill runs within on_fill");
    require_that(fill->in_use >= play.plan->options.warn_at, "on_fill comes too early");
    seat->fills++;
    for (uint32_t i = 0; i < play.plan->fill_count; i++) {
        call_next(play.plan->on_fill, play.plan->fill_count, &play.fill_step, current->worker);
    }
    seat->fills--;
}

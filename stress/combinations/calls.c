/* Which function carries a step out, and the table's callbacks, which carry out some themselves. */
#include "stress/combinations/calls.h"
#include "stress/combinations/sides.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/watch.h"
#include <stddef.h>
#include <string.h>

#define MOST_CLOSING_STEPS 32

/* Through which worker a call goes: the one at hand, that one if there is one, or none. */
enum way { AS_IS, BY_WORKER, BARE };

static const struct {
    step_call *call;
    enum way way;
    bool is_refused; /* in callbacks */
} functions[CALL_COUNT] = {
    [CALL_WORKER_OPEN] = {step_worker_open, AS_IS, false},
    [CALL_WORKER_CLOSE] = {step_worker_close, AS_IS, true},
    [CALL_QUIESCENT] = {step_quiescent, BY_WORKER, true},
    [CALL_FLUSH] = {step_flush, BY_WORKER, true},
    [CALL_OFFLINE_ONLINE] = {step_offline_online, AS_IS, false},
    [CALL_INSERT] = {step_insert, BY_WORKER, false},
    [CALL_INSERT_WAIT] = {step_insert_wait, BY_WORKER, false},
    [CALL_INSERT_MANY] = {step_insert_many, BY_WORKER, false},
    [CALL_RESERVE] = {step_reserve, BY_WORKER, false},
    [CALL_PUBLISH] = {step_publish, BY_WORKER, false},
    [CALL_ABORT] = {step_abort, BY_WORKER, false},
    [CALL_FREE] = {step_free, BY_WORKER, false},
    [CALL_FREE_STALE] = {step_free_stale, BY_WORKER, false},
    [CALL_FREE_MANY] = {step_free_many, BY_WORKER, false},
    [CALL_TABLE_FREE] = {step_free, BARE, false},
    [CALL_SECTION_BEGIN] = {step_section_begin, AS_IS, false},
    [CALL_SECTION_END] = {step_section_end, AS_IS, false},
    [CALL_RESOLVE] = {step_resolve, AS_IS, false},
    [CALL_RESOLVE_MANY] = {step_resolve_many, AS_IS, false},
    [CALL_PIN] = {step_pin, AS_IS, false},
    [CALL_UNPIN] = {step_unpin, AS_IS, false},
    [CALL_SCAN] = {step_scan, AS_IS, false},
    [CALL_DIAGNOSE] = {step_diagnose, AS_IS, false},
    [CALL_EXPLAIN] = {step_explain, AS_IS, false},
    [CALL_EXPORT] = {step_export, AS_IS, false},
    [CALL_SIDE_OPEN] = {step_side_open, AS_IS, false},
    [CALL_SIDE_CLOSE] = {step_side_close, AS_IS, false},
    [CALL_SIDE_SET] = {step_side_set, AS_IS, false},
    [CALL_SIDE_FIND] = {step_side_find, AS_IS, false},
    [CALL_TRIM] = {step_trim, AS_IS, true},
    [CALL_RECLAIM] = {step_reclaim, AS_IS, true},
    [CALL_RESERVE_CAPACITY] = {step_reserve_capacity, AS_IS, false},
    [CALL_WAIT] = {step_wait, AS_IS, true},
    [CALL_JOB_BEGIN] = {step_job_begin, AS_IS, false},
    [CALL_JOB_END] = {step_job_end, AS_IS, false},
    [CALL_PARK] = {step_park, AS_IS, false},
    [CALL_UNPARK] = {step_unpark, AS_IS, false},
    [CALL_COMMANDS_OPEN] = {step_commands_open, AS_IS, false},
    [CALL_COMMANDS_CLOSE] = {step_commands_close, AS_IS, false},
    [CALL_RECORDER_OPEN] = {step_recorder_open, AS_IS, false},
    [CALL_RECORD_CREATE] = {step_record_create, AS_IS, false},
    [CALL_RECORD_DESTROY] = {step_record_destroy, AS_IS, false},
    [CALL_RECORD_CALL] = {step_record_call, AS_IS, false},
    [CALL_OTHER_INSERT] = {step_other_insert, AS_IS, false},
    [CALL_OTHER_FREE] = {step_other_free, AS_IS, false},
    [CALL_COUNTED_INSERT] = {step_counted, AS_IS, false},
    [CALL_COUNTED_ACQUIRE] = {step_counted, AS_IS, false},
    [CALL_COUNTED_RELEASE] = {step_counted, AS_IS, false},
    [CALL_COUNTED_AGAIN] = {step_counted, AS_IS, false},
    [CALL_COUNTED_COPY] = {step_counted, AS_IS, false},
    [CALL_COUNTED_FREE] = {step_counted, AS_IS, false},
    [CALL_COUNTED_TAKE] = {step_counted, AS_IS, false},
    [CALL_COUNTED_STALE] = {step_counted, AS_IS, false},
    [CALL_COUNTED_WALK] = {step_counted, AS_IS, false},
    [CALL_APPLY] = {step_apply, AS_IS, true},
    [CALL_TICK] = {step_refused, AS_IS, true},
    [CALL_UNSHARE_SHARE] = {step_refused, AS_IS, true},
    [CALL_TABLE_CLOSE] = {step_refused, AS_IS, true},
};

static step_call *function_for(const struct thread *thread, uint32_t call)
{
    return functions[call].is_refused && in_callback(thread) ? step_refused : functions[call].call;
}

void call_step(struct thread *thread, haft_worker *worker, const struct step *step)
{
    const enum way way = functions[step->call].way;

    watch->call = step->call;
    if (way != BY_WORKER || worker != NULL) {
        function_for(thread, step->call)(thread, way == BARE ? NULL : worker, step);
    }
    check_held(thread->seat);
}

static bool may_keep_open(uint32_t call)
{
    return call == CALL_RESERVE || call == CALL_PUBLISH || call == CALL_PIN;
}

/* While a table closes, callbacks end: else they could make work for one another for ever.  What
 * they reserve, publish or pin would keep it open. */
static bool may_call(uint32_t call)
{
    return !play.is_closing || (!may_keep_open(call) && play.closing_steps++ < MOST_CLOSING_STEPS);
}

/* What a callback may no longer do in a table that is cleared. */
static bool is_closed_to(uint32_t call)
{
    switch (call) {
    case CALL_WORKER_OPEN:
    case CALL_INSERT:
    case CALL_INSERT_WAIT:
    case CALL_INSERT_MANY:
    case CALL_RESERVE:
    case CALL_COMMANDS_OPEN:
        return play.is_cleared;
    default:
        return false;
    }
}

static void ask_closed(haft_worker *worker)
{
    haft_worker *opened;
    haft_id id;

    expect(haft_worker_open(play.table, &opened), HAFT_CLOSED, "haft_worker_open");
    if (worker != NULL) {
        expect(haft_insert(worker, NULL, &id), HAFT_CLOSED, "haft_insert");
        expect(haft_insert_wait(worker, NULL, &id), HAFT_CLOSED, "haft_insert_wait");
        expect(haft_reserve(worker, &id, NULL), HAFT_CLOSED, "haft_reserve");
    }
}

/* The plan's next step for a callback; none if it has none. */
static void call_next(const struct step *steps, uint32_t step_count, _Atomic(uint32_t) *next,
                      haft_worker *worker)
{
    if (step_count != 0 && !play.is_ending) {
        const uint32_t at = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
        const struct step *step = &steps[at % step_count];

        if (is_closed_to(step->call)) {
            ask_closed(worker);
        } else if (may_call(step->call)) {
            call_step(current, worker, step);
        }
    }
}

static void note_callback(void)
{
    atomic_fetch_add_explicit(&play.callbacks, 1, memory_order_relaxed);
    current->callbacks++;
}

void call_in_reclaim(haft_worker *worker)
{
    struct seat *seat = current->seat;

    note_callback();
    require_that(seat->reclaims == 0, "on_reclaim runs within on_reclaim");
    seat->reclaims++;
    call_next(play.plan->on_reclaim, play.plan->reclaim_count, &play.reclaim_step, worker);
    seat->reclaims--;
}

void reclaim_callback(void *object, haft_id id, haft_worker *worker, void *arg)
{
    require_that(arg == &play, "on_reclaim's argument");
    require_that(worker != NULL, "on_reclaim's worker");
    if (play.ends_all && !play.is_cleared) {
        model_cleared();
    }
    check_values_at_end(id);
    model_reclaimed(id, object);
    call_in_reclaim(worker);
}

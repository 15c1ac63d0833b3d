/* Calls that one thread makes while all others stand still: which file makes them. */
#include "stress/combinations/alone.h"
#include "stress/combinations/backend.h"
#include "stress/combinations/census.h"
#include "stress/combinations/counted_table.h"
#include "stress/combinations/crowd.h"
#include "stress/combinations/ending.h"
#include "stress/combinations/forks.h"
#include "stress/combinations/guests.h"
#include "stress/combinations/memory.h"
#include "stress/combinations/progress.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include "stress/combinations/watch.h"

static void tick(struct thread *thread)
{
    if (is_clock(PLAN_FRAME)) {
        pass_grace_period(thread);
    }
}

static void begin_refusing(void)
{
    if (backend_has_system()) {
        set_memory_refused(true);
        end_call(begin_call(CALL_REFUSE_MEMORY, HAFT_NIL));
    }
}

/* No call of the library's alone: it counts as one. */
static void look_over(struct thread *thread, const struct step *step)
{
    end_call(begin_call(step->call, HAFT_NIL));
    if (step->call == CALL_CENSUS) {
        check_census();
        check_registers();
    } else if (step->call == CALL_DRAIN) {
        drain(step);
    } else {
        check_progress(thread, step);
    }
}

static void make_call(struct thread *thread, const struct step *step)
{
    switch (step->call) {
    case CALL_GUEST:
    case CALL_GUEST_LEAVING:
        have_guest(thread, step);
        break;
    case CALL_TICK:
        tick(thread);
        break;
    case CALL_CENSUS:
    case CALL_DRAIN:
    case CALL_PROGRESS:
        look_over(thread, step);
        break;
    case CALL_UNSHARE_SHARE:
    case CALL_REWIND:
    case CALL_SAVE_LOAD:
    case CALL_CLONE:
        try_unshare(thread, step);
        break;
    case CALL_TABLE_CLOSE:
        try_close(thread, step);
        break;
    case CALL_COUNTED_CLOSE:
        try_close_counted();
        break;
    case CALL_CROWD:
        toggle_crowd(thread);
        break;
    case CALL_FORK:
        try_fork(thread);
        break;
    case CALL_REFUSE_MEMORY:
        begin_refusing();
        break;
    default:
        fail("no such call", "%u", step->call);
    }
}

/* The others need threads that take turns: all of their pointers end, or the answer is known. */
static bool may_be_made_at_once(uint32_t call)
{
    return call == CALL_TICK || call == CALL_CENSUS || call == CALL_DRAIN ||
           call == CALL_PROGRESS || call == CALL_COUNTED_CLOSE;
}

void call_alone(struct thread *thread, const struct step *step)
{
    watch->call = step->call;
    set_memory_refused(false);
    check_census();
    if (!play.at_once || may_be_made_at_once(step->call)) {
        make_call(thread, step);
    }
}

/* Calls that one thread makes while all others stand still: which file makes them; fork, and
 * refused memory. */
#include "stress/combinations/backend.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/ending.h"
#include "stress/combinations/guests.h"
#include "stress/combinations/play.h"
#include "stress/combinations/progress.h"
#include "stress/combinations/watch.h"
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Foreign clocks would wait for threads that are gone: their domains have the frame clock now. */
static void go_on_forked(void)
{
    static struct plan forked;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    forked = *play.plan;
    if (has_sections() || is_qsbr()) {
        forked.options.clock = PLAN_FRAME;
    }
    play.plan = &forked;
    play.is_forked = true;
    forget_export();
    play.left_worker = NULL; /* its thread has ended: it is closed */
    play.seats[0].is_registered = false;
    release_held(&play.seats[0]);
    memset(play.made, 0, sizeof play.made);
    if (play.is_shared_again) { /* slots that the local table left may count as freed */
        const uint64_t freed = haft_table_stats_get(play.table).freed;
        const uint64_t since = word_in(&play.frees) - play.frees_before;

        play.frees_before -= freed > since ? freed - since : 0;
    }
}

static void await_child(pid_t child)
{
    int status = 0;

    require_that(child > 0 && waitpid(child, &status, 0) == child, "fork");
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && watch->kind[0] != '\0') {
        _exit(WEXITSTATUS(status)); /* the child has said which rule it broke */
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail("the child of a fork died", "status %#x", (unsigned)status);
    }
}

/* Once in a play: the child plays the rest, then the parent does. */
static void try_fork(struct thread *thread)
{
    if (play.has_forked || !backend_has_system() || is_ck()) {
        return;
    }
    play.has_forked = true;
    if (thread->seat->depth != 0) {
        end_sections(thread);
    }
    const struct call_under_way outer = begin_call(CALL_FORK, HAFT_NIL);

    haft_before_fork();
    const pid_t child = backend_fork();

    if (child == 0) {
        haft_after_fork_child();
        end_call(outer);
        go_on_forked();
        check_census();
        check_registers();
        return;
    }
    haft_after_fork_parent();
    end_call(outer);
    await_child(child);
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

/* The others need threads that take turns: a call needs all of their pointers, or a known answer. */
static bool may_be_made_at_once(uint32_t call)
{
    return call == CALL_TICK || call == CALL_CENSUS || call == CALL_DRAIN || call == CALL_PROGRESS;
}

void call_alone(struct thread *thread, const struct step *step)
{
    watch->call = step->call;
    set_memory_refused(false);
    check_census();
    if (play.at_once && !may_be_made_at_once(step->call)) {
        return;
    }
    switch (step->call) {
    case CALL_GUEST:
    case CALL_GUEST_LATE:
    case CALL_GUEST_LEAVING:
        have_guest(thread, step);
        break;
    case CALL_CLOSE_LEFT:
        close_left();
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

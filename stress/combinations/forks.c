/* A play that forks: see forks.h. */
#include "stress/combinations/forks.h"
#include "stress/combinations/backend.h"
#include "stress/combinations/census.h"
#include "stress/combinations/exports.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include "stress/combinations/watch.h"
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

void try_fork(struct thread *thread)
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

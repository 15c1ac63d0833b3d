/* A play that forks: see forks.h. */
#include "stress/combinations/forks.h"
#include "stress/combinations/backend.h"
#include "stress/combinations/census.h"
#include "stress/combinations/lives.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include "stress/combinations/watch.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The live objects are there, new ones have slots of their own, and nothing waits.  The model of
 * the child goes on: what it knows of slots is true of the child's. */
static void look_forked(struct thread *thread)
{
    play.is_child = true;
    const haft_status waited = haft_domain_wait(play.domain);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    check_registers();
    require_that(waited == HAFT_OK || waited == HAFT_FORKED || waited == HAFT_IN_SECTION,
                 "a wait in the child of a fork");
    for (uint32_t n = 0; thread->worker != NULL && n < 100; n++) {
        if (!insert_one(thread->worker, n)) {
            break;
        }
    }
    check_registers();
    _exit(0);
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
    if (play.has_forked || !backend_has_system()) {
        return;
    }
    play.has_forked = true;
    const struct call_under_way outer = begin_call(CALL_FORK, HAFT_NIL);
    const pid_t child = backend_fork();

    if (child == 0) {
        look_forked(thread);
    }
    end_call(outer);
    await_child(child);
}

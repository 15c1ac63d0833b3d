/* Forks, and domains of every flavour and clock. */
#include "tests/extra/forking.h"
#include <haft/fork.h>
#include <haft/urcu.h>
#include <sys/wait.h>

const haft_domain_options domains[ROWS] = {
    [MEMB_CALLS] = {.foreign = haft_urcu_memb(), .clock = HAFT_CLOCK_CALLER},
    [MEMB_THREAD] = {.foreign = haft_urcu_memb(), .clock = HAFT_CLOCK_THREAD},
    [MB_CALLS] = {.foreign = haft_urcu_mb(), .clock = HAFT_CLOCK_CALLER},
    [QSBR_CALLS] = {.foreign = haft_urcu_qsbr(), .clock = HAFT_CLOCK_CALLER},
    [QSBR_THREAD] = {.foreign = haft_urcu_qsbr(), .clock = HAFT_CLOCK_THREAD},
    [BP_CALLS] = {.foreign = haft_urcu_bp(), .clock = HAFT_CLOCK_CALLER},
    [BP_THREAD] = {.foreign = haft_urcu_bp(), .clock = HAFT_CLOCK_THREAD},
    [WORKERS] = {.clock = HAFT_CLOCK_WORKERS},
    [FRAME] = {.clock = HAFT_CLOCK_FRAME},
};

static void expect_child_ends_well(pid_t child)
{
    int status = -1;

    cr_assert(gt(int, child, 0));
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    cr_expect(zero(int, status), "status %x", (unsigned)status);
}

static void run(child_body *body, struct shared *shared, haft_id live)
{
    alarm(SUITE_SECONDS); /* then it hangs */
    body(shared, live);
    _exit(0);
}

void fork_plainly(child_body *body, struct shared *shared, haft_id live)
{
    const pid_t child = fork();

    if (child == 0) {
        run(body, shared, live);
    }
    expect_child_ends_well(child);
}

void fork_with_the_calls(child_body *body, struct shared *shared, haft_id live)
{
    urcu_bp_before_fork();
    haft_before_fork();
    const pid_t child = fork();

    if (child == 0) {
        haft_after_fork_child();
        urcu_bp_after_fork_child();
        run(body, shared, live);
    }
    haft_after_fork_parent();
    urcu_bp_after_fork_parent();
    expect_child_ends_well(child);
}

bool child_ticks(int row)
{
    return row < BP_CALLS || row == FRAME;
}

void end_grace(struct shared *shared, bool ticks)
{
    require(haft_worker_flush(shared->worker) == HAFT_OK);
    require(haft_domain_tick(shared->domain) == (ticks ? HAFT_OK : HAFT_WRONG_CLOCK));
    require(haft_domain_wait(shared->domain) == HAFT_OK);
}

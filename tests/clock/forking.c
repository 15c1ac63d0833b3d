/* Forks, and domains of every flavour and clock. */
#include "tests/clock/forking.h"
#include <haft/urcu.h>
#include <sys/wait.h>

static const struct {
    const haft_foreign_clock *(*foreign_clock)(void);
    haft_clock clock;
} rows[ROWS] = {
    [MEMB_CALLS] = {haft_urcu_memb, HAFT_CLOCK_CALLER},
    [MEMB_THREAD] = {haft_urcu_memb, HAFT_CLOCK_THREAD},
    [MB_CALLS] = {haft_urcu_mb, HAFT_CLOCK_CALLER},
    [QSBR_CALLS] = {haft_urcu_qsbr, HAFT_CLOCK_CALLER},
    [QSBR_THREAD] = {haft_urcu_qsbr, HAFT_CLOCK_THREAD},
    [BP_CALLS] = {haft_urcu_bp, HAFT_CLOCK_CALLER},
    [BP_THREAD] = {haft_urcu_bp, HAFT_CLOCK_THREAD},
    [WORKERS] = {NULL, HAFT_CLOCK_WORKERS},
    [FRAME] = {NULL, HAFT_CLOCK_FRAME},
};

haft_domain_options options_of(int row)
{
    const haft_domain_options options = {
        .foreign_clock = rows[row].foreign_clock != NULL ? rows[row].foreign_clock() : NULL,
        .clock = rows[row].clock,
    };
    return options;
}

struct shared open_shared_row(int row, const haft_table_options *with)
{
    const haft_domain_options domain = options_of(row);

    return open_shared_on(&domain, with);
}

static void expect_child_ends_well(pid_t child)
{
    int status = -1;

    cr_assert(lt(int, 0, child));
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    cr_expect(zero(int, status), "status %x", (unsigned)status);
}

static void run(child_body *body, struct shared *shared, haft_id live)
{
    alarm(SUITE_SECONDS); /* then it hangs */
    body(shared, live);
    _exit(0);
}

void fork_and_run(child_body *body, struct shared *shared, haft_id live)
{
    urcu_bp_before_fork();
    const pid_t child = fork();

    if (child == 0) {
        urcu_bp_after_fork_child();
        run(body, shared, live);
    }
    urcu_bp_after_fork_parent();
    expect_child_ends_well(child);
}

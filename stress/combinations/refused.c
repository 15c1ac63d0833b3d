/* Calls that callbacks may not make: each answers HAFT_IN_CALLBACK, and changes nothing. */
#include "stress/combinations/refused.h"
#include "stress/combinations/sets.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include "stress/combinations/workers.h"
#include <string.h>

static haft_status share_another(void)
{
    haft_local *local;
    haft_table *table;

    if (!is_done(haft_local_open(&(haft_local_options){.capacity = 1}, &local),
                 "haft_local_open")) {
        return HAFT_IN_CALLBACK; /* nothing to be shared */
    }
    const haft_status status = haft_share(local, play.domain, NULL, &table);

    haft_local_close(local);
    return status;
}

static haft_status unshare_and_share(void)
{
    haft_local *local;
    const haft_status status = haft_unshare(play.table, &local);

    return status == HAFT_IN_CALLBACK ? share_another() : status;
}

static haft_status ask(const struct thread *thread, haft_worker *worker, uint32_t call)
{
    switch (call) {
    case CALL_WORKER_CLOSE:
        return haft_worker_close(thread->worker);
    case CALL_QUIESCENT:
        return haft_worker_quiescent(worker);
    case CALL_FLUSH:
        return haft_worker_flush(worker);
    case CALL_TRIM:
        return haft_trim(play.table, NULL);
    case CALL_RECLAIM:
        return haft_table_reclaim(play.table);
    case CALL_WAIT:
        return haft_domain_wait(play.domain);
    case CALL_TICK:
        return haft_domain_tick(play.domain);
    case CALL_UNSHARE_SHARE:
        return unshare_and_share();
    case CALL_TABLE_CLOSE:
        return haft_table_close(play.table);
    case CALL_APPLY:
        return haft_commands_apply(play.set.commands, NULL);
    default:
        fail("no such call", "%u", call);
    }
}

haft_table_stats table_state(void)
{
    haft_table_stats stats = haft_table_stats_get(play.table);

    if (plan_has_clock_thread(&play.plan->options)) {
        memset(&stats.clock, 0, sizeof stats.clock);
    }
    return stats;
}

void refuse_in_section(haft_status (*call)(void), haft_status expected)
{
    const haft_table_stats before = table_state();

    expect(call(), expected, "a call in a section");
    const haft_table_stats after = table_state();

    require_that(play.at_once || memcmp(&before, &after, sizeof before) == 0,
                 "a call in a section changed something");
    check_held(current->seat);
}

void step_refused(struct thread *thread, haft_worker *worker, const struct step *step)
{
    const haft_table_stats before = table_state();
    bool has_taken = false; /* the command set */

    if ((step->call == CALL_WORKER_CLOSE && thread->worker == NULL) ||
        (step->call == CALL_TICK && !is_clock(PLAN_FRAME)) ||
        (step->call == CALL_APPLY && !(has_taken = take_set(thread)) && !applies_set(thread))) {
        return;
    }
    if (step->call == CALL_WORKER_CLOSE && thread->opened_in == thread->callbacks) {
        end_worker(thread); /* that it was opened in */
        return;
    }
    const struct call_under_way outer = begin_call(step->call, HAFT_NIL);

    expect(ask(thread, worker, step->call), HAFT_IN_CALLBACK, "a call in a callback");
    end_call(outer);
    if (has_taken) {
        give_set_back();
    }
    const haft_table_stats after = table_state();

    require_that(play.at_once || play.has_guest || memcmp(&before, &after, sizeof before) == 0,
                 "a call in a callback changed something");
}

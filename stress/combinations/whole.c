/* Calls on the table as a whole. */
#include "stress/combinations/calls.h"
#include "stress/combinations/memory.h"
#include "stress/combinations/sides.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/under_way.h"
#include <haft/diagnose.h>
#include <string.h>

/* The line begins with the table's name, also where its end is cut off. */
void step_explain(struct thread *thread, haft_worker *worker, const struct step *step)
{
    static const haft_status statuses[] = {HAFT_FULL, HAFT_BUSY, HAFT_IN_USE, HAFT_NO_MEMORY,
                                           HAFT_FORKED};
    const haft_status status = statuses[step->at % (sizeof statuses / sizeof *statuses)];
    static const char beginning[] = TABLE_NAME ": ";
    char line[512];
    char cut[sizeof beginning + 2];

    (void)thread;
    (void)worker;
    const struct call_under_way outer = begin_call(CALL_EXPLAIN, HAFT_NIL);
    const int length = haft_table_explain(play.table, status, line, sizeof line);
    const int cut_length = haft_table_explain(play.table, status, cut, sizeof cut);

    end_call(outer);
    require_that(length > 0 && strlen(line) == (size_t)length &&
                     strncmp(line, beginning, strlen(beginning)) == 0,
                 "haft_table_explain");
    require_that(cut_length > 0 && strncmp(cut, line, strlen(beginning)) == 0 &&
                     strlen(cut) == sizeof cut - 1,
                 "haft_table_explain, cut off");
}

void step_trim(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    (void)worker;
    (void)step;
    const struct call_under_way outer = begin_call(CALL_TRIM, HAFT_NIL);

    count(&play.trimming, 1);
    uint64_t released = 0;
    const haft_status status = haft_trim(play.table, &released);

    count(&play.trimming, -1);
    end_call(outer);
    if (!play.at_once && released != 0) {
        play.has_trimmed = true;
    }
    require_that(status == (play.plan->options.wrap ? HAFT_BAD_WRAP : HAFT_OK) ||
                     (status == HAFT_BUSY && play.at_once) || lacks_memory(status),
                 "haft_trim");
}

/* Of any number of slots: some are more than the table has. */
void step_reserve_capacity(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    (void)worker;
    const uint64_t limit = haft_table_stats_get(play.table).limit;
    const uint64_t wanted = limit / 8 * step->at;
    const struct call_under_way outer = begin_call(CALL_RESERVE_CAPACITY, HAFT_NIL);
    const haft_status status = haft_reserve_capacity(play.table, wanted);

    end_call(outer);
    require_that(wanted > limit ? status == HAFT_FULL : status == HAFT_OK || lacks_memory(status),
                 "haft_reserve_capacity");
}

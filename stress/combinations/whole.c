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

/* A slot that begins anew has none of the values of its former ids. */
static void check_lost_values(void)
{
    for (uint32_t index = HAFT_FIRST_INDEX; index >> play.plan->options.index_bits == 0; index++) {
        haft_id id;

        if (count_in(&play.recycled[index]) != 0 &&
            haft_id_at(play.table, index, &id) != HAFT_EXHAUSTED) {
            check_has_no_value((haft_id){word_in(&play.issued[index])},
                               "a recycled slot has a value");
        }
    }
}

/* All that were exhausted, and no others: a callback may exhaust some at the same time. */
static void check_recycled(haft_status status, uint64_t recycled, uint32_t most, uint64_t callbacks)
{
    if (play.at_once || callbacks != word_in(&play.callbacks)) {
        return;
    }
    require_that(recycled <= most, "slots were recycled that had lives left");
    require_that(status != HAFT_OK || haft_table_stats_get(play.table).exhausted == 0,
                 "slots stay exhausted");
    if (status == HAFT_OK && has_sides()) {
        check_lost_values();
    }
}

void step_recycle(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    (void)worker;
    (void)step;
    const uint32_t most = count_in(&play.exhausted);
    const uint64_t callbacks = word_in(&play.callbacks);
    uint64_t recycled = 0;

    model_recycling();
    const struct call_under_way outer = begin_call(CALL_RECYCLE, HAFT_NIL);

    count(&play.trimming, 1);
    const haft_status status = haft_recycle_exhausted(play.table, &recycled);

    count(&play.trimming, -1);
    end_call(outer);
    model_recycled(recycled);
    check_recycled(status, recycled, most, callbacks);
    require_that(status == HAFT_OK || (status == HAFT_BUSY && play.at_once) || lacks_memory(status),
                 "haft_recycle_exhausted");
}

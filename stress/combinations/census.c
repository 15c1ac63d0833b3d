/* What a table and its domain say of themselves at a quiet moment, beside what the model knows. */
#include "stress/combinations/census.h"
#include "stress/combinations/counted_table.h"
#include "stress/combinations/sets.h"
#include <inttypes.h>

static bool must_not_live(uint32_t state, haft_id id)
{
    return state == REGISTER_RECORDED || (state == REGISTER_ENDED && !may_live_again(id));
}

void check_registers(void)
{
    for (uint32_t i = 0; i < play.register_count; i++) {
        const struct reg *reg = &play.registers[i];
        const uint32_t state = count_in(&reg->state);
        const bool is_live = haft_is_live(play.view, id_in(reg));

        require_that(state != REGISTER_LIVE || is_live, "a live object was not found");
        require_that(!is_live || !must_not_live(state, id_in(reg)),
                     "a stale id lives, or one only recorded");
    }
}

static void check_number(const char *name, uint64_t said, uint64_t known)
{
    if (said != known) {
        fail("the statistics are wrong", "%s: %" PRIu64 ", not %" PRIu64, name, said, known);
    }
}

static uint32_t count_workers(void)
{
    uint32_t open = 0;

    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        open += play.seats[i].workers - (play.seats[i].other_worker != NULL);
    }
    return open;
}

/* Counters begin again when a table is shared again: objects that it has then count as created. */
static void check_numbers(const haft_table_stats *stats)
{
    check_number("live", stats->live, count_in(&play.live));
    check_number("reserved", stats->reserved, count_in(&play.reserved));
    check_number("freed", stats->freed, word_in(&play.frees) - play.frees_before);
    check_number("created", stats->created, stats->live + stats->freed);
    check_number("refused_frees", stats->refused_frees,
                 word_in(&play.refused_frees) - play.refused_before);
    check_number("workers", stats->workers, count_workers());
    if (!play.is_shared_again) { /* as a local table it may have grown */
        check_number("capacity", stats->capacity, play.plan->options.capacity);
    }
}

/* In turns: slots that lived all their lives are exhausted, or about to be. */
static void check_exhausted(const haft_table_stats *stats)
{
    const uint32_t exhausted = count_in(&play.exhausted);

    require_that(play.at_once || (stats->exhausted <= exhausted &&
                                  exhausted <= stats->exhausted + stats->retired),
                 "the statistics are wrong: exhausted slots");
}

/* waiting_bytes: no more slots than were in use at one time, and those that may wait.  Calls that
 * callbacks and command sets make may have slots in hand meanwhile. */
static void check_waiting(const haft_table_stats *stats)
{
    const struct plan_options *options = &play.plan->options;
    const uint64_t used = stats->high_water - stats->exhausted - stats->released;
    const uint64_t most = play.most_used + options->waiting_slots;

    if (options->waiting_slots == 0 || play.at_once || play.is_shared_again ||
        play.plan->reclaim_count != 0 || play.set.commands != NULL) {
        return;
    }
    if (used > most) {
        fail("more slots wait than waiting_bytes allows", "%" PRIu64 " used, not %" PRIu64, used,
             most);
    }
}

static void check_clock(const haft_domain_stats *clock)
{
    require_that(clock->grace_periods >= play.grace_periods, "grace periods that did not end");
    play.grace_periods = clock->grace_periods;
}

void check_census(void)
{
    haft_table_stats stats;

    settle_doomed();
    require_that(shim_census(play.table, &stats), "a slot is in no place, or in two");
    check_numbers(&stats);
    check_exhausted(&stats);
    check_waiting(&stats);
    check_clock(&stats.clock);
    check_counted();
}

/* In turns, after a wait or a tick: all that had been requested has ended, and counts as ended. */
void check_grace(const haft_domain_stats *before)
{
    const haft_domain_stats now = haft_domain_stats_get(play.domain);

    require_that(play.at_once || now.backlog == 0, "a batch waits for a grace period that is over");
    require_that(play.at_once || before->backlog == 0 ||
                     now.grace_periods > before->grace_periods ||
                     plan_has_clock_thread(&play.plan->options),
                 "a grace period does not count");
}

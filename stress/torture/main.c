/*
 * stress/torture - long runs under all the pressure there is.
 *
 * Invariants  what a reader holds stays itself, and is no older than its clock allows; a slot has
 *             one owner at a time; an id is never live again, or with `wrap` not before its slot
 *             has had all other generations; counters are exact when all is quiet;
 *             the whole capacity is there in the end (PUBLISH, TICKET, ELAPSED, RING, DEPOT, QUIET,
 *             PIN and what else moves slots).
 * Pressure    the profiles: see profile.c.
 * Usage       torture --help
 */
#include "stress/torture/interrupt.h"
#include "stress/torture/play.h"
#include "stress/torture/progress.h"
#include "stress/torture/report.h"
#include <stdio.h>

#define NS_PER_S UINT64_C(1000000000)
#define LONGEST_PLAY_NS (10 * NS_PER_S)
#define SECOND_CHANCES 8 /* plays more for a profile that has not met its race */

bool has_met(const struct result *result, size_t profile)
{
    const uint64_t *counts = result->by_profile[profile].counts;

    return counts[COUNT_OUTLIVED] != 0 && counts[profiles[profile].met] != 0;
}

static bool is_chosen(const struct options *options, size_t profile)
{
    return options->profile == NULL || options->profile == &profiles[profile];
}

/* For that long: once, or again where a play ends before its time.  Not at all once interrupted. */
static void play_profile(const struct options *options, struct result *result, size_t profile,
                         uint64_t ns)
{
    static uint64_t number;
    const uint64_t began = time_ns();
    uint64_t elapsed = 0;

    while (elapsed < ns && !is_interrupted()) {
        play_run(options, &profiles[profile], number++, ns - elapsed, &result->by_profile[profile],
                 &result->stalls);
        result->plays[profile]++;
        elapsed = time_ns() - began;
    }
}

/*
 * Plays of twice the time, then four times, until its race is met: a large table is slow to fill.
 */
static void play_longer(const struct options *options, struct result *result, size_t profile,
                        uint64_t slice)
{
    for (int i = 0; i < SECOND_CHANCES && !has_met(result, profile); i++) {
        slice = 2 * slice < LONGEST_PLAY_NS ? 2 * slice : LONGEST_PLAY_NS;
        play_profile(options, result, profile, slice);
    }
}

/* All of them in turn, until the time is over and each has had its turn. */
static void play_in_turn(const struct options *options, struct result *result)
{
    const uint64_t began = time_ns();
    const uint64_t all = options->seconds * NS_PER_S;
    const uint64_t share = options->profile != NULL ? all : all / PROFILES;
    const uint64_t slice = share < LONGEST_PLAY_NS ? share : LONGEST_PLAY_NS;
    bool is_first = true;

    while (is_first || (time_ns() - began < all && !is_interrupted())) {
        for (size_t i = 0; i < PROFILES; i++) {
            if (is_chosen(options, i) && (is_first || time_ns() - began < all)) {
                play_profile(options, result, i, slice);
            }
        }
        is_first = false;
    }
    for (size_t i = 0; i < PROFILES; i++) {
        if (is_chosen(options, i)) {
            play_longer(options, result, i, slice);
        }
    }
    result->elapsed_ns = time_ns() - began;
    result->is_interrupted = is_interrupted();
}

static int verdict_on(const struct result *result)
{
    if (result->is_interrupted) {
        return VERDICT_INTERRUPTED;
    }
    return result->not_met != 0 ? VERDICT_NOT_MET : VERDICT_HELD;
}

int main(int argc, char **argv)
{
    static struct result result;
    const struct options options = options_from(argc, argv);

    interrupt_expect();
    report_begin(&options);
    progress_begin(options.seconds * NS_PER_S);
    play_in_turn(&options, &result);
    progress_end();
    for (size_t i = 0; i < PROFILES; i++) {
        tally_add(&result.sum, &result.by_profile[i]);
        result.not_met += is_chosen(&options, i) && !has_met(&result, i);
    }
    report(&options, &result);
    return end_output("torture", verdict_on(&result));
}

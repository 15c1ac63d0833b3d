/* White-box: a case under one schedule after the other. */
#include "stress/explorer/run.h"
#include "lib/base/os.h"
#include "stress/explorer/calls.h"
#include "stress/explorer/choice.h"
#include "stress/explorer/crew.h"
#include "stress/explorer/distinct.h"
#include "stress/explorer/foreign.h"
#include "stress/explorer/history.h"
#include "stress/explorer/hooked.h"
#include "stress/explorer/locks.h"
#include "stress/explorer/progress.h"
#include "stress/explorer/report.h"
#include "stress/explorer/scheduler.h"
#include <stddef.h>

static const struct explored_case *running;
static bool reuses_threads;
static bool was_met;
static uint32_t racing; /* threads between race_begin() and race_end() */

void met(void)
{
    was_met = true;
}

void race_begin(void)
{
    if (++racing > 1) {
        was_met = true;
    }
}

void race_end(void)
{
    racing--;
}

static void run_body(void *thread)
{
    running->body((uint32_t)(uintptr_t)thread);
}

static void run_threads(void)
{
    struct os_thread threads[MOST_SCHEDULED];

    for (uintptr_t i = 0; i < running->threads; i++) {
        if (!os_thread_start(&threads[i], run_body, (void *)i)) {
            violation("the system gives no thread");
        }
    }
    for (uint32_t i = 0; i < running->threads; i++) {
        os_thread_join(&threads[i]);
    }
}

static void run_schedule(void)
{
    was_met = false;
    racing = 0;
    history_clear();
    model_foreign_reset();
    locks_reset();
    crew_reset(reuses_threads);
    schedule_begin();
    running->set_up();
    run_threads();
    running->tear_down();
    schedule_end();
}

struct run_counts run_case(const struct explored_case *explored, const struct run_options *options)
{
    struct run_counts counts = {0};
    const double begin = seconds_now();
    bool goes_on = true;

    running = explored;
    reuses_threads = !options->with_fresh_threads;
    hooked_use_history(options->with_history);
    distinct_clear();
    calls_clear();
    while (goes_on && (options->schedules == 0 || counts.schedules < options->schedules ||
                       (counts.met == 0 && counts.schedules < options->longest))) {
        choice_begin(options->first + counts.schedules);
        run_schedule();
        counts.schedules++;
        counts.distinct += distinct_is_new(choice_fingerprint());
        counts.decisions += choice_decisions();
        counts.steps += schedule_steps();
        counts.met += was_met;
        progress(explored->name, counts.schedules, options->schedules);
        goes_on = choice_end();
    }
    progress_end();
    counts.is_complete = !goes_on;
    counts.seconds = seconds_now() - begin;
    return counts;
}

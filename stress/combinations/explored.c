/* Plans played under the explorer's scheduler: each under some random schedules. */
#include "stress/combinations/play.h"
#include "stress/combinations/watch.h"
#include "stress/explorer/choice.h"
#include "stress/explorer/foreign.h"
#include "stress/explorer/report.h"
#include "stress/explorer/run.h"
#include "stress/explorer/scheduler.h"
#include <stddef.h>
#include <unistd.h>

#define MOST_DEPTH 17

const char *const backend_modes[] = {"schedules", NULL};

bool backend_is_at_once(const char *mode)
{
    (void)mode;
    return true;
}

const haft_foreign_clock *backend_memb(void)
{
    return &model_sections;
}

const haft_foreign_clock *backend_qsbr(void)
{
    static haft_foreign_clock clock;

    clock = model_online;
    clock.is_registered = model_is_registered;
    return &clock;
}

/* Concurrency Kit's own would wait for threads that do not run: another one of the scheduler's. */
const haft_foreign_clock *backend_ck(void)
{
    return &model_late;
}

void backend_await(bool (*ready)(const void *what), const void *what)
{
    schedule_block(ready, what);
}

/* The library's handlers take locks, which only threads in a schedule can. */
bool backend_has_system(void)
{
    return false;
}

bool backend_has_files(void)
{
    return false;
}

pid_t backend_fork(void)
{
    return _Fork();
}

void backend_fail(const char *kind, const char *detail)
{
    watch_note(kind, detail);
    violation("%s (%s)", kind, detail);
}

static const struct plan *played;

static void begin(void)
{
    play_begin(played, true);
}

void backend_play(const struct plan *plan, const char *mode, uint32_t times)
{
    const struct explored_case combination = {
        .name = "combinations",
        .threads = plan->threads,
        .set_up = begin,
        .body = play_thread,
        .tear_down = play_end,
    };
    /* Few changes at a time find most faults; with many, more calls meet in their middle. */
    const uint32_t depth = plan->seed % 2 == 0 ? 2 + (uint32_t)(plan->seed / 2 % 4) : MOST_DEPTH;
    const struct choice_options choice = {
        .mode = CHOICE_RANDOM, .seed = plan->seed, .depth = depth};
    const struct run_options options = {.schedules = times, .with_fresh_threads = true};

    (void)mode;
    played = plan;
    report_case("combinations", NULL); /* its seed repeats it */
    choice_open(&choice);
    run_case(&combination, &options);
}

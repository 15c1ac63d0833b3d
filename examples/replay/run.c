#include "run.h"
#include "examples/screen/progress.h"
#include "examples/screen/text.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IN_FLIGHT_PER_WORKER = 4, REDRAW_MS = 100 };

/* --- set-up --- */

static bool cannot_open(struct failure *failure, const char *what, haft_status status)
{
    return fail(failure, EXIT_SYSTEM, "cannot open the %s: %s", what, haft_status_text(status));
}

/* Traced threads may run ahead of the file's order, so all objects of a replay may be live at
 * once; capacity is only address space until it is used. */
static bool open_table(struct run *run, struct failure *failure)
{
    const haft_domain_options clock = {
        .foreign_clock = run->options->foreign_clock,
        .clock = run->options->clock,
    };
    const haft_table_options objects = {
        .name = "replay",
        .capacity = (uint64_t)run->trace->object_count * run->in_flight,
        .object_size = check_object_size,
        .on_reclaim = check_reclaim,
    };
    haft_status status = haft_domain_open(&clock, &run->domain);

    if (status != HAFT_OK) {
        return cannot_open(failure, "domain", status);
    }
    status = haft_table_open(run->domain, &objects, &run->table);
    if (status != HAFT_OK) {
        haft_domain_close(run->domain);
        return cannot_open(failure, "table", status);
    }
    run->view = haft_table_view(run->table);
    return true;
}

static bool open_export(struct run *run, struct failure *failure)
{
    const haft_export_options options = {.directory = run->options->export_directory};

    if (options.directory == NULL) {
        return true;
    }
    const haft_status status = haft_export_open(&options, &run->exported);

    return status == HAFT_OK ||
           fail(failure, status == HAFT_BAD_DIRECTORY ? EXIT_REFUSED : EXIT_SYSTEM,
                "cannot export statistics to %s: %s", options.directory, haft_status_text(status));
}

static void close_export(struct run *run)
{
    if (run->exported != NULL) {
        haft_export_close(run->exported);
        run->exported = NULL;
    }
}

static bool open_pool(struct run *run, struct failure *failure)
{
    const int status = job_pool_open(&run->pool, run->options->workers, schedule_work, run);

    return status == 0 ||
           fail(failure, EXIT_SYSTEM, "cannot start %u thread%s: %s", run->options->workers,
                plural(run->options->workers), strerror(status));
}

/* `changed` waits by the monotonic clock. */
static void open_lock(struct run *run)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&run->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&run->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void open_replays(struct run *run)
{
    const struct trace *trace = run->trace;

    run->replays = replay_allocate(run->in_flight, sizeof *run->replays);
    for (unsigned i = 0; i < run->in_flight; i++) {
        struct replay *replay = &run->replays[i];

        replay->run = run;
        replay->jobs = replay_allocate(trace->thread_count, sizeof *replay->jobs);
        replay->ids = replay_allocate(trace->object_count, sizeof *replay->ids);
        replay->allocated_by = replay_allocate(trace->object_count, sizeof *replay->allocated_by);
        replay->handoffs = replay_allocate(trace->handoff_count, sizeof *replay->handoffs);
    }
}

static void close_replays(struct run *run)
{
    for (unsigned i = 0; i < run->in_flight; i++) {
        free(run->replays[i].jobs);
        free(run->replays[i].ids);
        free(run->replays[i].allocated_by);
        free(run->replays[i].handoffs);
    }
    free(run->replays);
}

/* --- interruption --- */

static volatile sig_atomic_t interrupted; /* the signal; 0: none */

static void interrupt(int number)
{
    interrupted = number;
}

/* Ignored signals stay ignored, as in a shell's background jobs and under nohup. */
static void expect_interruption(void)
{
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = interrupt};

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction before;

        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            sigaction(signals[i], &action, NULL);
        }
    }
}

/* After a signal: removes the line of progress and the export, and ends by that signal. */
static void end_if_interrupted(struct run *run)
{
    if (interrupted != 0) {
        progress_end();
        close_export(run);
        signal(interrupted, SIG_DFL);
        raise(interrupted);
    }
}

/* --- the run --- */

static uint64_t total_rows(const struct run *run)
{
    return run->trace->row_count * run->options->repeat;
}

static struct timespec after_ms(long ms)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += ms * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* For REDRAW_MS, or until all replays have ended: then true. */
static bool wait_a_moment(struct run *run)
{
    const struct timespec next = after_ms(REDRAW_MS);
    int status = 0;

    pthread_mutex_lock(&run->lock);
    while (run->replays_done < run->options->repeat && status == 0) {
        status = pthread_cond_timedwait(&run->changed, &run->lock, &next);
    }
    const bool ended = run->replays_done == run->options->repeat;
    pthread_mutex_unlock(&run->lock);
    return ended;
}

/* Returns when all replays have ended. */
static void wait_for_replays(struct run *run, uint64_t begin)
{
    while (!wait_a_moment(run)) {
        end_if_interrupted(run);
        progress_show("operations", atomic_load(&run->rows_done), total_rows(run),
                      latency_now() - begin);
    }
    progress_end();
}

static uint64_t run_replays(struct run *run)
{
    const uint64_t begin = latency_now();

    for (unsigned i = 0; i < run->in_flight; i++) {
        schedule_begin(&run->replays[i]);
    }
    wait_for_replays(run, begin);
    const uint64_t elapsed = latency_now() - begin;

    job_pool_close(&run->pool);
    return elapsed;
}

/* --- the end --- */

static void add_tally(struct tally *sum, const struct tally *tally)
{
    sum->rows += tally->rows;
    sum->allocations += tally->allocations;
    sum->uses += tally->uses;
    sum->frees += tally->frees;
    sum->cross_worker_frees += tally->cross_worker_frees;
    sum->refused_frees += tally->refused_frees;
    sum->collisions += tally->collisions;
    sum->stale_checks += tally->stale_checks;
    sum->reclaimed += tally->reclaimed;
    sum->wrong_answers += tally->wrong_answers;
    latency_merge(&sum->latency, &tally->latency);
}

static void add_members(const struct run *run, struct tally *sum)
{
    *sum = (struct tally){.rows = 0};
    for (unsigned i = 0; i < run->joined; i++) {
        add_tally(sum, &run->members[i]->tally);
    }
}

static void check_stats(struct member *member, const haft_table_stats *stats)
{
    check_count(member, "live objects", stats->live, 0);
    check_count(member, "reserved slots", stats->reserved, 0);
    check_count(member, "slots in all states",
                stats->live + stats->reserved + stats->retired + stats->free + stats->exhausted,
                stats->high_water);
    check_count(member, "open workers", stats->workers, 0);
}

/* Main looks at what the pool's threads have left behind, and closes the table. */
static void finish(struct run *run, struct result *result)
{
    struct member *member = member_join(run);
    struct tally *sum = &result->sum;

    for (unsigned i = 0; i < run->joined; i++) {
        check_kept(member, run->members[i]);
    }
    haft_worker_quiescent(member->worker);
    member_leave(member);
    haft_domain_wait(run->domain);
    result->stats = haft_table_stats_get(run->table);
    check_stats(member, &result->stats);
    check_count(member, "haft_table_close()", haft_table_close(run->table), HAFT_OK);
    check_count(member, "haft_domain_close()", haft_domain_close(run->domain), HAFT_OK);
    add_members(run, sum);
    check_count(member, "rows carried out", sum->rows, total_rows(run));
    check_count(member, "objects freed", sum->frees, sum->allocations);
    check_count(member, "objects reclaimed", sum->reclaimed, sum->frees);
    add_members(run, sum); /* with the complaints just found */
    result->cross_thread_frees = run->trace->cross_thread_frees * run->options->repeat;
    result->complaints = run->complaints;
}

bool run_trace(const struct options *options, const struct trace *trace, struct result *result,
               struct failure *failure)
{
    struct run run = {
        .options = options,
        .trace = trace,
        .in_flight = IN_FLIGHT_PER_WORKER * options->workers,
    };

    if (run.in_flight > options->repeat) {
        run.in_flight = (unsigned)options->repeat;
    }
    if (!open_table(&run, failure)) {
        return false;
    }
    open_lock(&run);
    run.members = replay_allocate(options->workers + 1, sizeof *run.members);
    open_replays(&run);
    expect_interruption();
    const bool opened = open_export(&run, failure) && open_pool(&run, failure);

    if (opened) {
        result->elapsed_ns = run_replays(&run);
        finish(&run, result);
    } else {
        haft_table_close(run.table);
        haft_domain_close(run.domain);
    }
    end_if_interrupted(&run);
    close_export(&run);
    close_replays(&run);
    members_free(&run);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    return opened;
}

void result_clear(struct result *result)
{
    for (unsigned i = 0; i < result->complaints.count; i++) {
        free(result->complaints.texts[i]);
    }
}

#include "run.h"
#include "examples/screen/progress.h"
#include "failure.h"

enum { IN_FLIGHT_PER_WORKER = 4, REDRAW_MS = 100 };

/* --- set-up --- */

static bool fail(GError **error, const char *what, haft_status status)
{
    g_set_error(error, REPLAY_FAILURE, EXIT_SYSTEM, "cannot open the %s: %s", what,
                haft_status_text(status));
    return false;
}

/* Traced threads may run ahead of the file's order, so all objects of a replay may be live at
 * once; capacity is only address space until it is used. */
static bool open_table(struct run *run, GError **error)
{
    const haft_domain_options clock = {
        .flavour = run->options->flavour,
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
        return fail(error, "domain", status);
    }
    status = haft_table_open(run->domain, &objects, &run->table);
    if (status != HAFT_OK) {
        haft_domain_close(run->domain);
        return fail(error, "table", status);
    }
    run->view = haft_table_view(run->table);
    return true;
}

static bool open_export(struct run *run, GError **error)
{
    const haft_export_options options = {.directory = run->options->export_directory};

    if (options.directory == NULL) {
        return true;
    }
    const haft_status status = haft_export_open(&options, &run->exported);

    if (status != HAFT_OK) {
        g_set_error(
            error, REPLAY_FAILURE, status == HAFT_BAD_DIRECTORY ? EXIT_REFUSED : EXIT_SYSTEM,
            "cannot export statistics to %s: %s", options.directory, haft_status_text(status));
    }
    return status == HAFT_OK;
}

static void close_export(struct run *run)
{
    if (run->exported != NULL) {
        haft_export_close(run->exported);
    }
}

/*
 * GThreadPool: a job may push jobs, an exclusive pool has exactly as many threads as asked for, a
 * GPrivate's destructor runs when one of them ends, and it is C.
 */
static bool open_pool(struct run *run, GError **error)
{
    GError *reason = NULL;

    g_thread_pool_set_max_unused_threads(0); /* threads end with their pool */
    run->pool =
        g_thread_pool_new(schedule_run_job, run, (gint)run->options->workers, TRUE, &reason);
    if (reason != NULL) {
        g_set_error(error, REPLAY_FAILURE, EXIT_SYSTEM, "cannot start %u threads: %s",
                    run->options->workers, reason->message);
        g_error_free(reason);
        g_thread_pool_free(run->pool, TRUE, TRUE);
        return false;
    }
    return true;
}

static void open_replays(struct run *run)
{
    const struct trace *trace = run->trace;

    run->replays = g_new0(struct replay, run->in_flight);
    for (unsigned i = 0; i < run->in_flight; i++) {
        struct replay *replay = &run->replays[i];

        replay->run = run;
        replay->jobs = g_new(struct job, trace->thread_count);
        replay->ids = g_new0(haft_id, trace->object_count);
        replay->allocated_by = g_new0(uint16_t, trace->object_count);
        replay->handoffs = g_new0(atomic_uchar, trace->handoff_count);
    }
}

static void close_replays(struct run *run)
{
    for (unsigned i = 0; i < run->in_flight; i++) {
        g_free(run->replays[i].jobs);
        g_free(run->replays[i].ids);
        g_free(run->replays[i].allocated_by);
        g_free(run->replays[i].handoffs);
    }
    g_free(run->replays);
}

/* --- the run --- */

static uint64_t total_rows(const struct run *run)
{
    return run->trace->row_count * run->options->repeat;
}

/* Returns when all replays have ended. */
static void wait_for_replays(struct run *run, uint64_t begin)
{
    g_mutex_lock(&run->lock);
    while (run->replays_done < run->options->repeat) {
        const gint64 next = g_get_monotonic_time() + REDRAW_MS * G_TIME_SPAN_MILLISECOND;

        if (!g_cond_wait_until(&run->changed, &run->lock, next)) {
            g_mutex_unlock(&run->lock);
            progress_show("operations", atomic_load(&run->rows_done), total_rows(run),
                          latency_now() - begin);
            g_mutex_lock(&run->lock);
        }
    }
    g_mutex_unlock(&run->lock);
    progress_end();
}

/* g_thread_pool_free() waits for the jobs; their threads may still be closing their workers. */
static void close_pool(struct run *run)
{
    g_thread_pool_free(run->pool, FALSE, TRUE);
    g_mutex_lock(&run->lock);
    while (run->left < atomic_load(&run->joined)) {
        g_cond_wait(&run->changed, &run->lock);
    }
    g_mutex_unlock(&run->lock);
}

static uint64_t run_replays(struct run *run)
{
    const uint64_t begin = latency_now();

    for (unsigned i = 0; i < run->in_flight; i++) {
        schedule_begin(&run->replays[i]);
    }
    wait_for_replays(run, begin);
    const uint64_t elapsed = latency_now() - begin;

    close_pool(run);
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
    add_members(run, sum); /* with what was just found wrong */
    result->cross_thread_frees = run->trace->cross_thread_frees * run->options->repeat;
    result->complaints = run->complaints;
}

bool run_trace(const struct options *options, const struct trace *trace, struct result *result,
               GError **error)
{
    struct run run = {
        .options = options,
        .trace = trace,
        .in_flight = (unsigned)MIN(options->repeat, IN_FLIGHT_PER_WORKER * options->workers),
    };

    if (!open_table(&run, error)) {
        return false;
    }
    g_mutex_init(&run.lock);
    g_cond_init(&run.changed);
    run.complaints = g_ptr_array_new_with_free_func(g_free);
    run.members = g_new0(struct member *, options->workers + 1);
    open_replays(&run);
    const bool opened = open_export(&run, error) && open_pool(&run, error);

    if (opened) {
        result->elapsed_ns = run_replays(&run);
        finish(&run, result);
    } else {
        haft_table_close(run.table);
        haft_domain_close(run.domain);
        g_ptr_array_unref(run.complaints);
    }
    close_export(&run);
    close_replays(&run);
    members_free(&run);
    g_cond_clear(&run.changed);
    g_mutex_clear(&run.lock);
    return opened;
}

void result_clear(struct result *result)
{
    g_ptr_array_unref(result->complaints);
}

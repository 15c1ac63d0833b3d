/*
 * Each job takes a range of slots, and is itself an object of the table: what travels through the
 * pool is its id.  A job reads files outside of read sections, for nothing that is slow belongs
 * inside one: it takes a path with it, ends the section, and resolves the id again to write down
 * what it found.
 */
#include "work.h"
#include "examples/screen/progress.h"
#include "failure.h"
#include "level.h"
#include "measure.h"
#include <haft/domain.h>
#include <haft/scan.h>
#include <haft/table.h>

enum { JOBS_PER_WORKER = 16, REDRAW_MS = 100 };

_Static_assert(sizeof(gpointer) >= sizeof(haft_id), "an id travels as a pointer");

struct pool {
    const struct workload *load;
    haft_domain *domain;
    haft_view view;
    GThreadPool *threads;

    GMutex lock; /* for what follows */
    GCond changed;
    uint64_t files_done;
    unsigned jobs_left;
    unsigned joined; /* threads with a worker now */
};

/* --- threads --- */

struct member {
    struct pool *pool;
    haft_worker *worker;
};

static void leave(gpointer data)
{
    struct member *member = data;
    struct pool *pool = member->pool;

    haft_worker_close(member->worker);
    haft_thread_unregister(pool->domain);
    g_free(member);
    g_mutex_lock(&pool->lock);
    pool->joined--;
    g_cond_signal(&pool->changed);
    g_mutex_unlock(&pool->lock);
}

/* The calling thread's worker, opened by its first job; `leave` is called when the thread ends. */
static haft_worker *worker_of_thread(struct pool *pool)
{
    static GPrivate mine = G_PRIVATE_INIT(leave);
    struct member *member = g_private_get(&mine);

    if (member == NULL) {
        member = g_new(struct member, 1);
        member->pool = pool;
        haft_thread_register(pool->domain);
        const haft_status status = haft_worker_open(pool->load->table, &member->worker);

        if (status != HAFT_OK) {
            give_up("no worker for a thread: %s", haft_status_text(status));
        }
        g_private_set(&mine, member);
        g_mutex_lock(&pool->lock);
        pool->joined++;
        g_mutex_unlock(&pool->lock);
    } else {
        haft_thread_online(pool->domain);
    }
    return member->worker;
}

/* --- a job --- */

/* The job's slots; none if the id is not a job's. */
static haft_range range_of(const struct pool *pool, haft_id job)
{
    haft_section_begin(pool->domain);
    const struct object *object = haft_resolve(pool->view, job);
    const bool found = object != NULL && object->kind == A_JOB;
    const haft_range range = found ? object->range : HAFT_RANGE(0, 0);

    haft_section_end(pool->domain);
    check(found, "a job is not found by its id");
    return range;
}

/* The next file's id and path.  The cursor outlasts the section; pointers do not. */
static bool next_file(const struct pool *pool, haft_cursor *cursor, haft_id *file, GString *path)
{
    bool found = false;
    void *object;

    haft_section_begin(pool->domain);
    while (!found && haft_cursor_next(cursor, file, &object)) {
        found = ((const struct object *)object)->kind == A_FILE;
    }
    if (found) {
        level_path(pool->view, *file, path);
    }
    haft_section_end(pool->domain);
    return found;
}

static void write_down(const struct pool *pool, haft_id file, struct measure measure)
{
    haft_section_begin(pool->domain);
    struct object *object = haft_resolve(pool->view, file);

    if (check(object != NULL, "a file is not found by its id")) {
        object->bytes = measure.bytes;
        object->lines = measure.lines;
        object->unreadable = !measure.readable;
    }
    haft_section_end(pool->domain);
}

static void end_job(struct pool *pool, haft_worker *worker, haft_id job)
{
    check(haft_free(worker, job) == HAFT_OK, "a job cannot be freed");
    check(haft_free(worker, job) == HAFT_STALE, "a job can be freed twice");
    haft_worker_quiescent(worker);
    g_mutex_lock(&pool->lock);
    pool->jobs_left--;
    g_cond_signal(&pool->changed);
    g_mutex_unlock(&pool->lock);
}

/* GThreadPool's function. */
static void run_job(gpointer data, gpointer pool_data)
{
    struct pool *pool = pool_data;
    const haft_id job = {(uintptr_t)data};
    haft_worker *worker = worker_of_thread(pool);
    haft_cursor cursor = haft_cursor_over(pool->load->table, range_of(pool, job));
    GString *path = g_string_new(NULL);
    haft_id file;

    while (next_file(pool, &cursor, &file, path)) {
        haft_worker_quiescent(worker); /* no pointer is held, and a file may take long */
        write_down(pool, file, measure_file(path->str));
        g_mutex_lock(&pool->lock);
        pool->files_done++;
        g_mutex_unlock(&pool->lock);
    }
    g_string_free(path, TRUE);
    end_job(pool, worker, job);
    haft_thread_offline(pool->domain); /* a thread without a job keeps no grace period waiting */
}

/* --- all jobs --- */

static bool insert_jobs(struct pool *pool, haft_id *jobs, unsigned count, GError **error)
{
    haft_range *ranges = g_new(haft_range, count);
    haft_worker *worker;
    haft_status status = haft_worker_open(pool->load->table, &worker);

    if (status == HAFT_OK) {
        haft_scan_ranges(pool->load->table, ranges, count);
        for (unsigned i = 0; i < count && status == HAFT_OK; i++) {
            const struct object job = {.kind = A_JOB, .range = ranges[i]};

            status = haft_insert_wait(worker, &job, &jobs[i]);
        }
        haft_worker_close(worker);
    }
    g_free(ranges);
    return status == HAFT_OK || fail(error, EXIT_SYSTEM, "no job: %s", haft_status_text(status));
}

static void wait_for_jobs(struct pool *pool)
{
    const gint64 begin = g_get_monotonic_time();

    g_mutex_lock(&pool->lock);
    while (pool->jobs_left != 0) {
        const gint64 next = g_get_monotonic_time() + REDRAW_MS * G_TIME_SPAN_MILLISECOND;

        if (!g_cond_wait_until(&pool->changed, &pool->lock, next)) {
            progress_show("files", pool->files_done, pool->load->files,
                          (uint64_t)(g_get_monotonic_time() - begin) * 1000);
        }
    }
    g_mutex_unlock(&pool->lock);
    progress_end();
}

/* g_thread_pool_free() waits for the jobs; their threads may still be closing their workers. */
static void close_threads(struct pool *pool)
{
    g_thread_pool_free(pool->threads, FALSE, TRUE);
    g_mutex_lock(&pool->lock);
    while (pool->joined != 0) {
        g_cond_wait(&pool->changed, &pool->lock);
    }
    g_mutex_unlock(&pool->lock);
}

static bool run_jobs(struct pool *pool, const haft_id *jobs, unsigned count, GError **error)
{
    GError *reason = NULL;

    g_thread_pool_set_max_unused_threads(0); /* threads end with their pool */
    pool->threads = g_thread_pool_new(run_job, pool, (gint)pool->load->workers, TRUE, &reason);
    if (reason != NULL) {
        fail(error, EXIT_SYSTEM, "cannot start %u threads: %s", pool->load->workers,
             reason->message);
        g_error_free(reason);
        g_thread_pool_free(pool->threads, TRUE, TRUE);
        return false;
    }
    pool->jobs_left = count;
    for (unsigned i = 0; i < count; i++) {
        g_thread_pool_push(pool->threads, (gpointer)(uintptr_t)jobs[i].bits, NULL);
    }
    wait_for_jobs(pool);
    close_threads(pool);
    check(pool->files_done == pool->load->files,
          "%" G_GUINT64_FORMAT " files were found by jobs, of %" G_GUINT64_FORMAT, pool->files_done,
          pool->load->files);
    return true;
}

bool work(const struct workload *load, GError **error)
{
    const unsigned count = JOBS_PER_WORKER * load->workers;
    haft_id *jobs = g_new(haft_id, count);
    struct pool pool = {
        .load = load,
        .domain = haft_table_info(load->table).domain,
        .view = haft_table_view(load->table),
    };

    g_mutex_init(&pool.lock);
    g_cond_init(&pool.changed);
    const bool done = insert_jobs(&pool, jobs, count, error) && run_jobs(&pool, jobs, count, error);

    if (done) {
        g_array_append_vals(load->freed, jobs, count);
    }
    g_cond_clear(&pool.changed);
    g_mutex_clear(&pool.lock);
    g_free(jobs);
    return done;
}

/*
 * jobs.c - jobs on GLib's thread pool share one table and hand each other ids, not pointers.
 *
 * A spawn job makes a monster with three lives and sends four hit jobs after it.  They run on any
 * thread, in any order.  The one that takes the last life frees the monster and spawns the next,
 * which soon lives in the slot of one before; a hit that comes too late learns it from the id.
 */
#include <glib.h>
#include <haft/section.h>
#include <haft/worker.h>
#include <stdio.h>
#include <urcu/urcu-qsbr.h>

enum { THREADS = 4, AT_ONCE = 1000, MONSTERS = 100000, LIVES = 3, HITS = 4 };

static haft_domain *domain;
static haft_table *table;
static GThreadPool *pool;
static GAsyncQueue *ended; /* one entry for each hit job, then one for each thread, that ended */
static gint threads, unborn = MONSTERS, deaths, late;

/* A job is an id to hit, or nil: spawn. */
static void submit(haft_id target)
{
    g_thread_pool_push(pool, g_memdup2(&target, sizeof target), NULL);
}

static void hit(haft_worker *worker, haft_id target)
{
    haft_section_begin(domain); /* a monster found here stays in place until the section ends */
    gint *lives = haft_resolve(haft_table_view(table), target);
    /* Its lifetime is the table's care, its contents are ours: other jobs hit it as well. */
    const gint before = lives == NULL ? 0 : g_atomic_int_add(lives, -1);
    haft_section_end(domain);

    if (before == 1 && haft_free(worker, target) == HAFT_OK) {
        g_atomic_int_inc(&deaths);
        submit(HAFT_NIL);
    } else if (before <= 0) {
        g_atomic_int_inc(&late);
    }
    g_async_queue_push(ended, &ended);
}

static void spawn(haft_worker *worker)
{
    const gint lives = LIVES;
    haft_id monster;

    if (g_atomic_int_add(&unborn, -1) <= 0) {
        return;
    }
    if (haft_insert_wait(worker, &lives, &monster) != HAFT_OK) {
        g_error("no slot for a monster");
    }
    for (int i = 0; i < HITS; i++) {
        submit(monster);
    }
}

static void leave(gpointer worker)
{
    haft_worker_close(worker);
    haft_thread_unregister(domain);
    g_async_queue_push(ended, &ended);
}

/* The calling thread's worker, opened by the first job it runs; `leave` is called when it ends. */
static haft_worker *worker_of_thread(void)
{
    static GPrivate mine = G_PRIVATE_INIT(leave);
    haft_worker *worker = g_private_get(&mine);

    if (worker == NULL) {
        haft_thread_register(domain);
        if (haft_worker_open(table, &worker) != HAFT_OK) {
            g_error("no memory for a worker");
        }
        g_private_set(&mine, worker);
        g_atomic_int_inc(&threads);
    } else {
        haft_thread_online(domain);
    }
    return worker;
}

static void run_job(gpointer data, gpointer unused)
{
    const haft_id *target = data;
    haft_worker *worker = worker_of_thread();

    (void)unused;
    if (haft_id_is_nil(*target)) {
        spawn(worker);
    } else {
        hit(worker, *target);
    }
    g_free(data);
    haft_worker_quiescent(worker); /* between jobs no pointer is held ... */
    haft_thread_offline(domain);   /* ... and a thread without a job keeps nobody waiting */
}

static void await(int count)
{
    while (count-- > 0) {
        g_async_queue_pop(ended);
    }
}

int main(void)
{
    const haft_domain_options clock = {.flavour = &urcu_qsbr_flavor, .clock = HAFT_CLOCK_CALLER};
    const haft_table_options monsters = {.capacity = AT_ONCE, .object_size = sizeof(gint)};

    if (haft_domain_open(&clock, &domain) || haft_table_open(domain, &monsters, &table)) {
        return 1;
    }
    ended = g_async_queue_new();
    g_thread_pool_set_max_unused_threads(0); /* threads end with their pool */
    pool = g_thread_pool_new(run_job, NULL, THREADS, TRUE, NULL);
    for (int i = 0; i < AT_ONCE; i++) {
        submit(HAFT_NIL);
    }
    await(MONSTERS * HITS);
    g_thread_pool_free(pool, FALSE, TRUE);
    await(threads);
    g_async_queue_unref(ended);

    printf("%d deaths, %d hits too late; %d monsters lived in %d slots\n", deaths, late, MONSTERS,
           (int)haft_table_stats_get(table).high_water);
    return deaths != MONSTERS || late != MONSTERS * (HITS - LIVES) || haft_table_close(table) ||
           haft_domain_close(domain);
}

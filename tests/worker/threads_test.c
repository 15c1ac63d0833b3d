/* Threads that come and go. */
#include "tests/support.h"

TestSuite(threads, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 100000, .object_size = 8};

static void *live_shortly(void *arg)
{
    haft_table *table = arg;
    haft_domain *domain = haft_table_info(table).domain;
    haft_worker *worker;
    haft_id ids[10];

    haft_thread_register(domain);
    if (haft_worker_open(table, &worker) != HAFT_OK) {
        return NULL;
    }
    for (int i = 0; i < 10; i++) {
        ids[i] = HAFT_NIL;
        haft_insert_wait(worker, NULL, &ids[i]);
    }
    for (int i = 0; i < 10; i++) {
        arg = haft_free(worker, ids[i]) == HAFT_OK ? arg : NULL;
    }
    haft_worker_close(worker);
    haft_thread_unregister(domain);
    return arg;
}

static void run_short_threads(struct shared *shared, int count)
{
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        void *result = NULL;

        must(pthread_create(&thread, NULL, live_shortly, shared->table) == 0);
        haft_thread_offline(shared->domain);
        pthread_join(thread, &result);
        haft_thread_online(shared->domain);
        must(result == shared->table);
        must(haft_domain_wait(shared->domain) == HAFT_OK);
    }
}

TEST_ON_EACH_CLOCK(threads, two_thousand_one_after_another_do_not_make_the_table_grow)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

    run_short_threads(&shared, 20);
    const haft_table_stats before = stats_of(shared.table);

    run_short_threads(&shared, 2000);
    const haft_table_stats after = stats_of(shared.table);

    cr_expect(eq(u64, after.high_water, before.high_water));
    cr_expect(eq(u64, after.live, 0));
    cr_expect(eq(u64, after.workers, 1));
}

/* --- a thread-exit destructor --- */

struct at_exit {
    pthread_key_t key;
    haft_table *table;
    haft_worker *worker;
    haft_id id;
    bool done;
};

static void work_at_exit(void *arg)
{
    struct at_exit *exit = arg;
    haft_domain *domain = haft_table_info(exit->table).domain;
    haft_id id;

    haft_section_begin(domain);
    exit->done = haft_resolve(haft_table_view(exit->table), exit->id) != NULL;
    haft_section_end(domain);
    exit->done = exit->done && haft_insert(exit->worker, NULL, &id) == HAFT_OK &&
                 haft_free(exit->worker, id) == HAFT_OK &&
                 haft_free(exit->worker, exit->id) == HAFT_OK &&
                 haft_worker_close(exit->worker) == HAFT_OK;
    haft_thread_unregister(domain);
}

static void *exit_with_work(void *arg)
{
    struct at_exit *exit = arg;

    haft_thread_register(haft_table_info(exit->table).domain);
    if (haft_worker_open(exit->table, &exit->worker) == HAFT_OK &&
        haft_insert(exit->worker, NULL, &exit->id) == HAFT_OK) {
        pthread_setspecific(exit->key, exit);
    }
    return NULL;
}

TEST_ON_EACH_CLOCK(threads, insert_free_resolve_and_close_in_a_thread_exit_destructor)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct at_exit exit = {.table = shared.table};
    pthread_t thread;

    cr_assert(zero(int, pthread_key_create(&exit.key, work_at_exit)));
    cr_assert(zero(int, pthread_create(&thread, NULL, exit_with_work, &exit)));
    haft_thread_offline(shared.domain);
    pthread_join(thread, NULL);
    haft_thread_online(shared.domain);
    cr_expect(exit.done);
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    cr_expect(eq(u64, stats_of(shared.table).workers, 1));
    pthread_key_delete(exit.key);
}

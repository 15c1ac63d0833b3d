/* Several threads: racing frees, threads that come and go, counts. */
#include "tests/support.h"
#include <sched.h>
#include <stdatomic.h>

TestSuite(threads, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 100000, .object_size = 8};

/* Join without holding up the grace periods that the others may wait for. */
static void join(haft_domain *domain, pthread_t thread)
{
    haft_thread_offline(domain);
    pthread_join(thread, NULL);
    haft_thread_online(domain);
}

/* --- two threads free the same ids --- */

#define ROUNDS 20000
#define RACERS 2

struct race {
    haft_table *table;
    haft_id ids[ROUNDS];
    atomic_int arrived; /* at all rounds so far */
};

struct racer {
    pthread_t thread;
    struct race *race;
    haft_status said[ROUNDS];
};

/* Until all racers have come to this round: they leave within nanoseconds of each other. */
static void meet(struct race *race, int round)
{
    atomic_fetch_add(&race->arrived, 1);
    for (int spins = 0; atomic_load(&race->arrived) < RACERS * (round + 1); spins++) {
        if (spins > 1000) {
            sched_yield();
        }
    }
}

static void *free_all(void *arg)
{
    struct racer *racer = arg;
    haft_worker *worker;

    if (haft_worker_open(racer->race->table, &worker) != HAFT_OK) {
        return NULL;
    }
    for (int i = 0; i < ROUNDS; i++) {
        meet(racer->race, i);
        racer->said[i] = haft_free(worker, racer->race->ids[i]);
    }
    haft_worker_close(worker);
    return NULL;
}

static void expect_each_slot_once(struct shared *shared)
{
    static bool met[65536];
    haft_id id;

    settle(shared->worker);
    for (int i = 0; i < ROUNDS; i++) {
        must(haft_insert(shared->worker, NULL, &id) == HAFT_OK);
        must(!met[haft_id_index(HAFT_LAYOUT_32_32, id)]);
        met[haft_id_index(HAFT_LAYOUT_32_32, id)] = true;
    }
}

TEST_ON_EACH_CLOCK(threads, of_two_that_free_the_same_id_one_wins_and_the_slot_is_free_once)
{
    static struct race race;
    static struct racer racers[RACERS];
    struct shared shared = open_shared(*setting, &options);

    race.table = shared.table;
    for (int i = 0; i < ROUNDS; i++) {
        race.ids[i] = insert(shared.worker);
    }
    for (int i = 0; i < RACERS; i++) {
        racers[i].race = &race;
        must(pthread_create(&racers[i].thread, NULL, free_all, &racers[i]) == 0);
    }
    for (int i = 0; i < RACERS; i++) {
        join(shared.domain, racers[i].thread);
    }
    for (int i = 0; i < ROUNDS; i++) {
        must((racers[0].said[i] == HAFT_OK) + (racers[1].said[i] == HAFT_OK) == 1);
        must(racers[0].said[i] == HAFT_STALE || racers[1].said[i] == HAFT_STALE);
    }
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    expect_each_slot_once(&shared);
    close_shared(&shared);
}

/* --- threads that come and go --- */

static void *live_shortly(void *arg)
{
    haft_table *table = arg;
    haft_domain *domain = haft_table_domain(table);
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
    struct shared shared = open_shared(*setting, &options);

    run_short_threads(&shared, 20);
    const haft_table_stats before = stats_of(shared.table);

    run_short_threads(&shared, 2000);
    const haft_table_stats after = stats_of(shared.table);

    cr_expect(eq(u64, after.high_water, before.high_water));
    cr_expect(eq(u64, after.live, 0));
    cr_expect(eq(u64, after.workers, 1));
    close_shared(&shared);
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
    haft_domain *domain = haft_table_domain(exit->table);
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

    haft_thread_register(haft_table_domain(exit->table));
    if (haft_worker_open(exit->table, &exit->worker) == HAFT_OK &&
        haft_insert(exit->worker, NULL, &exit->id) == HAFT_OK) {
        pthread_setspecific(exit->key, exit);
    }
    return NULL;
}

TEST_ON_EACH_CLOCK(threads, insert_free_resolve_and_close_in_a_thread_exit_destructor)
{
    struct shared shared = open_shared(*setting, &options);
    struct at_exit exit = {.table = shared.table};
    pthread_t thread;

    cr_assert(zero(int, pthread_key_create(&exit.key, work_at_exit)));
    cr_assert(zero(int, pthread_create(&thread, NULL, exit_with_work, &exit)));
    join(shared.domain, thread);
    cr_expect(exit.done);
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    cr_expect(eq(u64, stats_of(shared.table).workers, 1));
    pthread_key_delete(exit.key);
    close_shared(&shared);
}

/* --- counts --- */

struct counting {
    pthread_t thread;
    haft_table *table;
    uint64_t inserted;
    uint64_t freed;
    uint64_t seed;
};

static void *count_operations(void *arg)
{
    struct counting *counting = arg;
    haft_domain *domain = haft_table_domain(counting->table);
    haft_worker *worker;
    haft_id ids[500];
    uint64_t live = 0;

    haft_thread_register(domain);
    if (haft_worker_open(counting->table, &worker) != HAFT_OK) {
        return NULL;
    }
    for (int n = 0; n < 200000; n++) {
        if (live < 500 && random_next(&counting->seed) >> 40 & 1) {
            const bool ok = haft_insert(worker, NULL, &ids[live]) == HAFT_OK;

            live += ok;
            counting->inserted += ok;
        } else if (live != 0) {
            counting->freed += haft_free(worker, ids[--live]) == HAFT_OK;
        }
        if (n % 1024 == 0) {
            haft_worker_quiescent(worker);
        }
    }
    haft_worker_close(worker);
    haft_thread_unregister(domain);
    return NULL;
}

#define COUNTING 3

TEST_ON_EACH_CLOCK(threads, live_is_inserted_less_freed_when_all_have_gone)
{
    const haft_table_options tight = {.capacity = 1200, .object_size = 8};
    struct shared shared = open_shared(*setting, &tight);
    struct counting threads[COUNTING];
    uint64_t expected = 0;

    for (int i = 0; i < COUNTING; i++) {
        threads[i] = (struct counting){.table = shared.table, .seed = 51 + (uint64_t)i};
        must(pthread_create(&threads[i].thread, NULL, count_operations, &threads[i]) == 0);
    }
    for (int i = 0; i < COUNTING; i++) {
        join(shared.domain, threads[i].thread);
        expected += threads[i].inserted - threads[i].freed;
    }
    const haft_table_stats stats = stats_of(shared.table);

    cr_expect(eq(u64, stats.live, expected));
    cr_expect(eq(u64, stats.reserved, 0));
    cr_expect(eq(u64, stats.live + stats.retired + stats.free, stats.high_water));
    close_shared(&shared);
}

/* --- one inserts, another frees --- */

#define PIPE 256

struct pipe {
    haft_table *table;
    haft_id ids[PIPE];
    sem_t filled;
    sem_t empty;
    bool failed;
};

#define PIPED 300000

static void *free_from_pipe(void *arg)
{
    struct pipe *pipe = arg;
    haft_worker *worker;

    if (haft_worker_open(pipe->table, &worker) != HAFT_OK) {
        return NULL;
    }
    for (int n = 0; n < PIPED; n++) {
        sem_wait(&pipe->filled);
        pipe->failed = pipe->failed || haft_free(worker, pipe->ids[n % PIPE]) != HAFT_OK;
        sem_post(&pipe->empty);
        if (n % 1024 == 0) {
            haft_worker_quiescent(worker);
        }
    }
    haft_worker_close(worker);
    return NULL;
}

TEST_ON_EACH_CLOCK(threads, one_inserts_and_another_frees_without_running_out)
{
    static const haft_table_options small = {.capacity = 5000, .object_size = 8};
    struct shared shared = open_shared(*setting, &small);
    struct pipe pipe = {.table = shared.table};
    pthread_t thread;

    sem_init(&pipe.filled, 0, 0);
    sem_init(&pipe.empty, 0, PIPE);
    must(pthread_create(&thread, NULL, free_from_pipe, &pipe) == 0);
    for (int n = 0; n < PIPED; n++) {
        haft_thread_offline(shared.domain); /* it may have to wait for the other */
        sem_wait(&pipe.empty);
        haft_thread_online(shared.domain);
        must(haft_insert_wait(shared.worker, NULL, &pipe.ids[n % PIPE]) == HAFT_OK);
        sem_post(&pipe.filled);
    }
    join(shared.domain, thread);
    cr_expect(not(pipe.failed));
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    close_shared(&shared);
}

/* Fork while other threads hold every lock there is, most of the time. */
#include "tests/clock/forking.h"
#include <stdatomic.h>
#include <sys/wait.h>

TestSuite(fork_noise, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 5000, .object_size = 8};

#define NOISES 3

struct noise {
    pthread_t thread;
    struct shared *shared;
    haft_table *busy;
    atomic_int *stop;
};

static void *make_noise(void *arg)
{
    const struct noise *noise = arg;
    haft_domain *domain = noise->shared->domain;

    haft_thread_register(domain);
    haft_thread_offline(domain);
    while (!atomic_load(noise->stop)) {
        haft_table *table;
        haft_id id;

        must(haft_table_open(domain, &options, &table) == HAFT_OK);
        for (int n = 0; n < 20; n++) {
            haft_worker *worker = open_worker(noise->shared->table);

            if (haft_insert(worker, NULL, &id) == HAFT_OK) {
                must(haft_table_free(noise->shared->table, id) == HAFT_OK);
            }
            must(haft_worker_close(worker) == HAFT_OK);
            haft_domain_wait(domain);
        }
        must(haft_table_close(table) == HAFT_OK);
    }
    haft_thread_online(domain);
    haft_thread_unregister(domain);
    return NULL;
}

/* Under the registry's lock nearly all the time, to look at many workers. */
static void *try_to_close(void *arg)
{
    const struct noise *noise = arg;

    while (!atomic_load(noise->stop)) {
        must(haft_table_close(noise->busy) == HAFT_IN_USE);
    }
    return NULL;
}

#define WORKERS_OF_BUSY 200

static haft_table *open_busy(haft_domain *domain, haft_worker **workers)
{
    haft_table *busy;

    must(haft_table_open(domain, &options, &busy) == HAFT_OK);
    for (int i = 0; i < WORKERS_OF_BUSY; i++) {
        workers[i] = open_worker(busy);
    }
    return busy;
}

static void close_busy(haft_table *busy, haft_worker **workers)
{
    for (int i = 0; i < WORKERS_OF_BUSY; i++) {
        must(haft_worker_close(workers[i]) == HAFT_OK);
    }
    must(haft_table_close(busy) == HAFT_OK);
}

static void do_a_bit_of_everything(struct shared *shared, haft_id live)
{
    const haft_domain_options frame = {.clock = HAFT_CLOCK_FRAME};
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;
    haft_id id;

    for (int n = 0; n < 10; n++) {
        if (haft_insert(shared->worker, NULL, &id) == HAFT_OK) { /* all slots may be waiting */
            require(haft_table_free(shared->table, id) == HAFT_OK);
        }
    }
    require(haft_domain_open(&frame, &domain) == HAFT_OK);
    require(haft_table_open(domain, &options, &table) == HAFT_OK);
    require(haft_worker_open(table, &worker) == HAFT_OK);
    require(haft_insert(worker, NULL, &id) == HAFT_OK);
    require(haft_worker_close(worker) == HAFT_OK);
    require(haft_table_close(table) == HAFT_OK);
    require(haft_domain_close(domain) == HAFT_OK);
    require(haft_is_live(shared->view, live));
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_table_close(shared->table) == HAFT_OK);
}

TEST_ON_EACH_ROW(fork_noise, the_child_goes_on_whatever_the_others_were_doing)
{
    need_forks_beside_threads();
    struct shared shared = open_shared_row(*row, &options);
    const haft_id live = insert(shared.worker);
    struct noise noises[NOISES];
    haft_worker *workers[WORKERS_OF_BUSY];
    haft_table *busy = open_busy(shared.domain, workers);
    atomic_int stop = 0;

    haft_thread_offline(shared.domain);
    for (int i = 0; i < NOISES; i++) {
        noises[i] = (struct noise){.shared = &shared, .busy = busy, .stop = &stop};
        must(pthread_create(&noises[i].thread, NULL, i == 0 ? try_to_close : make_noise,
                            &noises[i]) == 0);
    }
    for (int n = 0; n < 50; n++) {
        fork_and_run(do_a_bit_of_everything, &shared, live);
        haft_domain_tick(shared.domain); /* of a frame clock */
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < NOISES; i++) {
        pthread_join(noises[i].thread, NULL);
    }
    haft_thread_online(shared.domain);
    close_busy(busy, workers);
    close_shared(&shared);
}

/* --- locks of the program's own --- */

static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;

static void take_own_lock(void)
{
    pthread_mutex_lock(&own_lock);
}

static void give_own_lock(void)
{
    pthread_mutex_unlock(&own_lock);
}

static void *open_with_own_lock(void *arg)
{
    const struct noise *noise = arg;

    while (!atomic_load(noise->stop)) {
        haft_table *table;

        take_own_lock();
        must(haft_table_open(noise->shared->domain, &options, &table) == HAFT_OK);
        must(haft_table_close(table) == HAFT_OK);
        give_own_lock();
    }
    return NULL;
}

Test(fork_noise, program_may_hand_to_pthread_atfork_a_lock_that_it_opens_tables_under)
{
    atomic_int stop = 0;

    need_forks_beside_threads();
    must(pthread_atfork(take_own_lock, give_own_lock, give_own_lock) == 0);
    struct shared shared = open_shared_row(FRAME, &options);
    struct noise noise = {.shared = &shared, .stop = &stop};

    must(pthread_create(&noise.thread, NULL, open_with_own_lock, &noise) == 0);
    for (int n = 0; n < 300; n++) {
        const pid_t child = fork();
        int status = -1;

        if (child == 0) {
            _exit(0);
        }
        must(waitpid(child, &status, 0) == child && status == 0);
    }
    atomic_store(&stop, 1);
    pthread_join(noise.thread, NULL);
    close_shared(&shared);
}

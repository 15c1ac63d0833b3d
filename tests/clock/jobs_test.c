/* Jobs that wait for jobs: what an outer job has resolved stays, whatever inner ones call. */
#include "tests/support.h"
#include <signal.h>

TestSuite(jobs, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 64, .object_size = 8};

/* Opened outside of all jobs, and offline: where a thread of a pool is between its jobs. */
static struct shared open_idle(struct setting setting)
{
    const struct shared shared = open_shared(setting, &options);

    haft_thread_offline(shared.domain);
    return shared;
}

static uint64_t backlog(const struct shared *shared)
{
    return haft_domain_stats_get(shared->domain).backlog;
}

/* Another thread frees one object and waits for its grace period. */
struct other {
    struct shared *shared;
    pthread_t thread;
    sem_t done;
};

static void *free_and_wait(void *arg)
{
    struct other *other = arg;

    haft_thread_register(other->shared->domain);
    haft_worker *worker = open_worker(other->shared->table);

    must(haft_free(worker, insert(worker)) == HAFT_OK);
    must(haft_worker_flush(worker) == HAFT_OK);
    must(haft_domain_wait(other->shared->domain) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    haft_thread_unregister(other->shared->domain);
    sem_post(&other->done);
    return NULL;
}

static void other_start(struct other *other, struct shared *shared)
{
    other->shared = shared;
    sem_init(&other->done, 0, 0);
    must(pthread_create(&other->thread, NULL, free_and_wait, other) == 0);
}

/* Whether it has ended its wait within `ms`. */
static bool other_is_done(struct other *other, unsigned ms)
{
    for (unsigned n = 0; n < ms; n++) {
        if (sem_trywait(&other->done) == 0) {
            sem_post(&other->done);
            return true;
        }
        sleep_ms(1);
    }
    return false;
}

static void other_join(struct other *other)
{
    pthread_join(other->thread, NULL);
    sem_destroy(&other->done);
}

/* Whether grace periods wait for the calling thread as it is: another one ends within `ms`. */
static bool lets_end(struct shared *shared, unsigned ms)
{
    struct other other;

    other_start(&other, shared);
    const bool ended = other_is_done(&other, ms);
    const haft_job_state parked = haft_thread_park(shared->domain);

    other_join(&other);
    haft_thread_unpark(shared->domain, parked);
    return ended;
}

#define EXPECT_HELD(shared) cr_expect(not(lets_end(shared, 50)))
#define EXPECT_FREE(shared) cr_expect(lets_end(shared, 20000))

TEST_ON_EACH_CLOCK(jobs, the_outermost_ends_offline_and_inner_ones_change_nothing)
{
    struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);

    EXPECT_HELD(&shared);
    const haft_job_state inner = haft_job_begin(shared.domain);

    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, inner);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, outer);
    EXPECT_FREE(&shared);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

/* The object of `id` is where it was, however often slots are looked for. */
static void expect_kept(struct shared *shared, const uint64_t *object, uint64_t contents)
{
    const uint64_t other = ~contents;
    haft_id id;

    for (int n = 0; n < 1000; n++) {
        if (haft_insert(shared->worker, &other, &id) == HAFT_OK) {
            must(haft_free(shared->worker, id) == HAFT_OK);
        }
        must(*object == contents);
    }
}

TEST_ON_EACH_CLOCK(jobs, what_the_outer_one_resolved_stays_through_quiescent_points_of_inner_ones)
{
    const uint64_t contents = 7;
    struct shared shared = open_idle(*setting);
    haft_id id;
    const haft_job_state outer = haft_job_begin(shared.domain);

    assert_status(haft_insert(shared.worker, &contents, &id), HAFT_OK);
    const uint64_t *object = haft_resolve(shared.view, id);

    assert_status(haft_free(shared.worker, id), HAFT_OK);
    for (int n = 0; n < 10; n++) {
        const haft_job_state inner = haft_job_begin(shared.domain);

        expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
        expect_kept(&shared, object, contents);
        haft_job_end(shared.domain, inner);
        expect_kept(&shared, object, contents);
    }
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(jobs, an_inner_quiescent_point_hands_on)
{
    struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);

    for (int n = 0; n < 32; n++) {
        must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    }
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(ge(u64, backlog(&shared), 1));
    haft_job_end(shared.domain, inner);
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(jobs, in_an_inner_one_what_waits_is_refused)
{
    struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);

    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    const haft_job_state inner = haft_job_begin(shared.domain);

    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    expect_status(haft_table_close(shared.table), HAFT_IN_SECTION);
    shared.worker = open_worker(shared.table);
    haft_job_end(shared.domain, inner);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(jobs, in_an_inner_one_a_full_table_is_not_waited_for)
{
    struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);
    haft_id ids[256];
    uint64_t count = 0;
    void *object;

    while (haft_insert(shared.worker, NULL, &ids[count]) == HAFT_OK) {
        must(++count < 256);
    }
    for (uint64_t i = 0; i < count; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    const haft_job_state inner = haft_job_begin(shared.domain);

    expect_status(haft_insert_wait(shared.worker, NULL, &ids[0]), HAFT_IN_SECTION);
    expect_status(haft_reserve_wait(shared.worker, &ids[0], &object), HAFT_IN_SECTION);
    haft_job_end(shared.domain, inner);
    expect_status(haft_insert_wait(shared.worker, NULL, &ids[0]), HAFT_OK);
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(jobs, a_quiescent_point_of_the_outermost_lets_grace_periods_end)
{
    struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);
    struct other other;

    other_start(&other, &shared);
    cr_expect(not(other_is_done(&other, 50)));
    for (int n = 0; n < 10000 && !other_is_done(&other, 1); n++) {
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    cr_expect(other_is_done(&other, 1));
    other_join(&other);
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(jobs, a_section_inside_the_outermost_is_no_quiescent_point)
{
    struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);

    if (setting->sections == MEMB) {
        haft_section_begin(shared.domain);
        expect_status(haft_worker_quiescent(shared.worker), HAFT_IN_SECTION);
        expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
        haft_section_end(shared.domain);
    }
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(jobs, parked_ones_hold_nothing_up_and_others_begin_anew)
{
    struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);
    const haft_job_state parked = haft_thread_park(shared.domain);

    EXPECT_FREE(&shared);
    const haft_job_state anew = haft_job_begin(shared.domain);

    EXPECT_HELD(&shared);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    haft_job_end(shared.domain, anew);
    EXPECT_FREE(&shared);
    haft_thread_unpark(shared.domain, parked);
    EXPECT_HELD(&shared);
    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    haft_job_end(shared.domain, inner);
    haft_job_end(shared.domain, outer);
    EXPECT_FREE(&shared);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

static void go_offline_and_online(struct shared *shared)
{
    haft_thread_offline(shared->domain);
    haft_thread_online(shared->domain);
}

/* As in a function that blocks, which does not know of the park. */
TEST_ON_EACH_CLOCK(jobs, offline_and_online_leave_a_thread_parked)
{
    struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state parked = haft_thread_park(shared.domain);

    go_offline_and_online(&shared);
    EXPECT_FREE(&shared);
    const haft_job_state anew = haft_job_begin(shared.domain);

    go_offline_and_online(&shared);
    EXPECT_HELD(&shared);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    haft_job_end(shared.domain, anew);
    EXPECT_FREE(&shared);
    haft_thread_unpark(shared.domain, parked);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, outer);
    EXPECT_FREE(&shared);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(jobs, offline_and_online_leave_a_thread_parked_that_was_offline)
{
    struct shared shared = open_idle(*setting);
    const haft_job_state parked = haft_thread_park(shared.domain);

    go_offline_and_online(&shared);
    EXPECT_FREE(&shared);
    haft_thread_unpark(shared.domain, parked);
    EXPECT_FREE(&shared);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(jobs, offline_and_online_leave_a_thread_parked_that_was_online)
{
    struct shared shared = open_shared(*setting, &options);
    const haft_job_state parked = haft_thread_park(shared.domain);

    go_offline_and_online(&shared);
    EXPECT_FREE(&shared);
    haft_thread_unpark(shared.domain, parked);
    if (setting->sections != MEMB) {
        EXPECT_HELD(&shared);
    }
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(jobs, a_park_in_one_that_is_offline_leaves_it_so_until_it_is_online)
{
    struct shared shared = open_idle(*setting);
    const haft_job_state job = haft_job_begin(shared.domain);

    if (setting->sections != MEMB) {
        haft_thread_offline(shared.domain);
        const haft_job_state parked = haft_thread_park(shared.domain);

        go_offline_and_online(&shared);
        haft_thread_unpark(shared.domain, parked);
        EXPECT_FREE(&shared);
        haft_thread_online(shared.domain);
    }
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, job);
    EXPECT_FREE(&shared);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(jobs, on_a_thread_that_is_online_they_are_inner_ones)
{
    struct shared shared = open_shared(*setting, &options);
    const bool stays_online = setting->sections != MEMB; /* whose threads have no such state */

    const haft_job_state job = haft_job_begin(shared.domain);

    cr_expect(eq(int, haft_domain_wait(shared.domain), stays_online ? HAFT_IN_SECTION : HAFT_OK));
    haft_job_end(shared.domain, job);
    if (stays_online) {
        EXPECT_HELD(&shared);
    } else {
        EXPECT_FREE(&shared);
    }
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(jobs, with_one_open_the_domain_stays)
{
    struct shared shared = open_idle(*setting);
    const haft_domain_options same = domain_options(*setting);
    haft_domain *domain;

    assert_status(haft_domain_open(&same, &domain), HAFT_OK);
    const haft_job_state job = haft_job_begin(domain);

    expect_status(haft_domain_close(domain), HAFT_IN_SECTION);
    haft_job_end(domain, job);
    expect_status(haft_domain_close(domain), HAFT_OK);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

/* --- the workers clock: members come and go with workers and jobs --- */

static const struct setting workers = {ANNOUNCED, HAFT_CLOCK_WORKERS};

/* A worker opened and closed by the calling thread, where the thread has no other. */
static struct shared open_without_worker(void)
{
    struct shared shared = open_shared(workers, &options);

    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    shared.worker = NULL;
    return shared;
}

Test(jobs, the_first_worker_may_open_in_an_inner_one)
{
    struct shared shared = open_without_worker();
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);

    EXPECT_FREE(&shared); /* without a worker it may not resolve */
    shared.worker = open_worker(shared.table);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, inner);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, outer);
    EXPECT_FREE(&shared);
    close_shared(&shared);
}

Test(jobs, the_last_worker_may_close_in_one_and_what_was_resolved_stays)
{
    struct shared shared = open_without_worker();
    const haft_job_state outer = haft_job_begin(shared.domain);

    assert_status(haft_worker_close(open_worker(shared.table)), HAFT_OK);
    EXPECT_HELD(&shared);
    const haft_job_state inner = haft_job_begin(shared.domain);

    shared.worker = open_worker(shared.table);
    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    shared.worker = NULL;
    haft_job_end(shared.domain, inner);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, outer);
    EXPECT_FREE(&shared);
    close_shared(&shared);
}

/* Closing and opening again inside a job would let go of what it has resolved. */
Test(jobs, a_worker_that_opens_again_in_one_announces_nothing)
{
    const uint64_t contents = 7;
    struct shared shared = open_without_worker();
    haft_id id;
    const haft_job_state job = haft_job_begin(shared.domain);

    shared.worker = open_worker(shared.table);
    assert_status(haft_insert(shared.worker, &contents, &id), HAFT_OK);
    const uint64_t *object = haft_resolve(shared.view, id);

    assert_status(haft_free(shared.worker, id), HAFT_OK);
    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    shared.worker = open_worker(shared.table);
    expect_kept(&shared, object, contents);
    haft_job_end(shared.domain, job);
    close_shared(&shared);
}

/* --- a worker that is opened on a thread that is away --- */

/* Grace periods wait for the thread while the worker is open, and no longer. */
static void expect_section_of_a_worker(struct shared *shared)
{
    haft_worker *transient = open_worker(shared->table);

    EXPECT_HELD(shared);
    const haft_job_state job = haft_job_begin(shared->domain);

    EXPECT_HELD(shared);
    haft_job_end(shared->domain, job);
    EXPECT_HELD(shared);
    expect_status(haft_worker_close(transient), HAFT_OK);
    EXPECT_FREE(shared);
}

static const struct setting with_online[] = {
    {ANNOUNCED, HAFT_CLOCK_WORKERS}, {QSBR, HAFT_CLOCK_CALLER}, {QSBR, HAFT_CLOCK_THREAD}};

static void open_while_parked(const struct setting *setting)
{
    struct shared shared = open_shared(*setting, &options);
    const haft_job_state parked = haft_thread_park(shared.domain);

    expect_section_of_a_worker(&shared);
    const haft_job_state job = haft_job_begin(shared.domain);
    const haft_job_state again = haft_thread_park(shared.domain);

    expect_section_of_a_worker(&shared);
    haft_thread_unpark(shared.domain, again);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, job);
    EXPECT_FREE(&shared);
    haft_thread_unpark(shared.domain, parked);
    EXPECT_HELD(&shared);
    close_shared(&shared);
}

Test(jobs, a_worker_opened_while_parked_is_a_section_until_it_is_closed)
{
    for (int i = 0; i < 3; i++) {
        open_while_parked(&with_online[i]);
    }
}

static void open_while_offline(const struct setting *setting)
{
    struct shared shared = open_shared(*setting, &options);

    haft_thread_offline(shared.domain);
    expect_section_of_a_worker(&shared);
    haft_thread_online(shared.domain);
    expect_status(haft_worker_close(open_worker(shared.table)), HAFT_OK);
    EXPECT_HELD(&shared);
    close_shared(&shared);
}

Test(jobs, a_worker_opened_while_offline_is_a_section_until_it_is_closed)
{
    for (int i = 0; i < 3; i++) {
        open_while_offline(&with_online[i]);
    }
}

Test(jobs, workers_opened_while_parked_may_close_in_any_order)
{
    struct shared shared = open_shared(workers, &options);
    const haft_job_state parked = haft_thread_park(shared.domain);
    haft_worker *first = open_worker(shared.table);
    haft_worker *second = open_worker(shared.table);

    expect_status(haft_worker_close(shared.worker), HAFT_OK); /* from before the park */
    expect_status(haft_worker_close(first), HAFT_OK);
    EXPECT_HELD(&shared);
    shared.worker = open_worker(shared.table);
    expect_status(haft_worker_close(second), HAFT_OK);
    EXPECT_HELD(&shared);
    expect_status(haft_worker_close(shared.worker), HAFT_OK);
    EXPECT_FREE(&shared);
    haft_thread_unpark(shared.domain, parked);
    shared.worker = open_worker(shared.table);
    close_shared(&shared);
}

/* The park ends first: then the worker has no more to take back. */
Test(jobs, a_worker_opened_while_parked_may_outlast_the_park)
{
    struct shared shared = open_shared(workers, &options);
    const haft_job_state parked = haft_thread_park(shared.domain);
    haft_worker *other = open_worker(shared.table);

    haft_thread_unpark(shared.domain, parked);
    EXPECT_HELD(&shared);
    expect_status(haft_worker_close(other), HAFT_OK);
    EXPECT_HELD(&shared);
    close_shared(&shared);
}

/* Its park is reclaimed when the worker is closed: then the thread is away as before. */
Test(jobs, a_worker_opened_while_parked_may_close_in_a_park_of_its_own)
{
    struct shared shared = open_shared(workers, &options);
    const haft_job_state parked = haft_thread_park(shared.domain);
    haft_worker *other = open_worker(shared.table);
    const haft_job_state inner = haft_thread_park(shared.domain);

    EXPECT_FREE(&shared);
    expect_status(haft_worker_close(other), HAFT_OK);
    haft_thread_unpark(shared.domain, inner);
    EXPECT_FREE(&shared);
    haft_thread_unpark(shared.domain, parked);
    EXPECT_HELD(&shared);
    close_shared(&shared);
}

Test(jobs, a_worker_opened_while_parked_may_close_in_a_job_begun_since)
{
    struct shared shared = open_shared(workers, &options);
    const haft_job_state parked = haft_thread_park(shared.domain);
    haft_worker *other = open_worker(shared.table);

    haft_thread_offline(shared.domain);
    const haft_job_state job = haft_job_begin(shared.domain);

    expect_status(haft_worker_close(other), HAFT_OK);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, job);
    EXPECT_FREE(&shared);
    haft_thread_online(shared.domain);
    EXPECT_FREE(&shared);
    haft_thread_unpark(shared.domain, parked);
    close_shared(&shared);
}

Test(jobs, online_while_a_worker_is_open_outlasts_the_worker)
{
    struct shared shared = open_shared(workers, &options);
    haft_worker *other;

    haft_thread_offline(shared.domain);
    other = open_worker(shared.table);
    haft_thread_online(shared.domain);
    expect_status(haft_worker_close(other), HAFT_OK);
    EXPECT_HELD(&shared);
    close_shared(&shared);
}

/* A job keeps the thread's entry with the clock; without a worker it may not resolve. */
Test(jobs, online_in_one_without_workers_holds_nothing_up)
{
    struct shared shared = open_without_worker();
    const haft_job_state job = haft_job_begin(shared.domain);

    haft_thread_offline(shared.domain);
    haft_thread_online(shared.domain);
    EXPECT_FREE(&shared);
    haft_job_end(shared.domain, job);
    close_shared(&shared);
}

Test(jobs, the_first_worker_after_offline_in_one_is_online)
{
    struct shared shared = open_without_worker();
    const haft_job_state job = haft_job_begin(shared.domain);

    haft_thread_offline(shared.domain); /* from nothing */
    shared.worker = open_worker(shared.table);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, job);
    EXPECT_FREE(&shared);
    close_shared(&shared);
}

Test(jobs, offline_without_workers_in_one_leaves_the_next_ones_inner)
{
    struct shared shared = open_without_worker();
    const haft_job_state outer = haft_job_begin(shared.domain);

    haft_thread_offline(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);

    shared.worker = open_worker(shared.table);
    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    haft_job_end(shared.domain, inner);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, outer);
    EXPECT_FREE(&shared);
    close_shared(&shared);
}

/* In a job: offline, the last close, and online again without a worker. */
static void come_back_without_worker(struct shared *shared)
{
    shared->worker = open_worker(shared->table);
    haft_thread_offline(shared->domain);
    assert_status(haft_worker_close(shared->worker), HAFT_OK);
    haft_thread_online(shared->domain);
}

Test(jobs, the_next_worker_after_offline_and_the_last_close_in_one_is_online)
{
    struct shared shared = open_without_worker();
    const haft_job_state job = haft_job_begin(shared.domain);

    come_back_without_worker(&shared);
    EXPECT_FREE(&shared);
    shared.worker = open_worker(shared.table);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, job);
    EXPECT_FREE(&shared);
    close_shared(&shared);
}

Test(jobs, online_after_the_last_close_in_one_makes_the_next_ones_inner)
{
    struct shared shared = open_without_worker();
    const haft_job_state outer = haft_job_begin(shared.domain);

    come_back_without_worker(&shared);
    const haft_job_state inner = haft_job_begin(shared.domain);

    shared.worker = open_worker(shared.table);
    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    haft_job_end(shared.domain, inner);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, outer);
    EXPECT_FREE(&shared);
    close_shared(&shared);
}

/* Offline lasts while the thread has workers. */
Test(jobs, the_next_worker_in_one_that_is_offline_is_online)
{
    struct shared shared = open_without_worker();
    const haft_job_state job = haft_job_begin(shared.domain);

    shared.worker = open_worker(shared.table);
    haft_thread_offline(shared.domain);
    EXPECT_FREE(&shared);
    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    shared.worker = open_worker(shared.table);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, job);
    close_shared(&shared);
}

Test(jobs, a_thread_without_workers_or_jobs_may_park)
{
    struct shared shared = open_without_worker();
    const haft_job_state parked = haft_thread_park(shared.domain);

    haft_thread_unpark(shared.domain, parked);
    EXPECT_FREE(&shared);
    close_shared(&shared);
}

static void *end_in_a_job(void *arg)
{
    struct shared *shared = arg;

    haft_job_begin(shared->domain);
    shared->worker = open_worker(shared->table);
    return NULL;
}

Test(jobs, closing_the_worker_of_a_thread_that_ended_in_one_ends_the_job)
{
    struct shared shared = open_without_worker();
    pthread_t thread;

    must(pthread_create(&thread, NULL, end_in_a_job, &shared) == 0);
    pthread_join(thread, NULL);
    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    shared.worker = open_worker(shared.table);
    assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    settle(shared.worker);
    cr_expect(eq(u64, backlog(&shared), 0));
    close_shared(&shared);
}

/* --- qsbr: jobs belong to the flavour --- */

Test(jobs, with_qsbr_one_of_another_domain_inside_is_an_inner_one)
{
    const struct setting qsbr = {QSBR, HAFT_CLOCK_CALLER};
    struct shared shared = open_idle(qsbr);
    const haft_domain_options same = domain_options(qsbr);
    haft_domain *other;

    assert_status(haft_domain_open(&same, &other), HAFT_OK);
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(other);

    expect_status(haft_domain_wait(other), HAFT_IN_SECTION);
    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    haft_job_end(other, inner);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, outer);
    expect_status(haft_domain_close(other), HAFT_OK);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

/* --- the frame clock --- */

Test(jobs, with_the_frame_clock_nest_and_change_nothing)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    struct shared shared = open_shared_on(&frames, &options);
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);

    assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    assert_status(haft_worker_flush(shared.worker), HAFT_OK);
    expect_status(haft_domain_wait(shared.domain), HAFT_BUSY);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    haft_job_end(shared.domain, inner);
    const haft_job_state parked = haft_thread_park(shared.domain);

    haft_thread_unpark(shared.domain, parked);
    haft_job_end(shared.domain, outer);
    expect_status(haft_domain_tick(shared.domain), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 0));
    close_shared(&shared);
}

/* --- misuse --- */

#ifndef NDEBUG
static struct {
    haft_domain *domain;
    haft_job_state state;
} elsewhere;

static void *end_elsewhere(void *arg)
{
    (void)arg;
    haft_job_end(elsewhere.domain, elsewhere.state);
    return NULL;
}

Test(jobs, ended_on_another_thread_are_noticed, .signal = SIGABRT)
{
    struct shared shared = open_idle(workers);
    pthread_t thread;

    elsewhere.domain = shared.domain;
    elsewhere.state = haft_job_begin(shared.domain);
    must(pthread_create(&thread, NULL, end_elsewhere, NULL) == 0);
    pthread_join(thread, NULL);
}

Test(jobs, ended_in_another_order_are_noticed, .signal = SIGABRT)
{
    struct shared shared = open_idle(workers);
    const haft_job_state outer = haft_job_begin(shared.domain);

    haft_job_begin(shared.domain);
    haft_job_end(shared.domain, outer);
}

Test(jobs, unparked_before_inner_ones_end_are_noticed, .signal = SIGABRT)
{
    struct shared shared = open_idle(MEMB_CALLER);

    haft_job_begin(shared.domain);
    const haft_job_state parked = haft_thread_park(shared.domain);

    haft_job_begin(shared.domain);
    haft_thread_unpark(shared.domain, parked);
}

Test(jobs, offline_in_an_inner_one_is_noticed, .signal = SIGABRT)
{
    struct shared shared = open_idle(workers);

    haft_job_begin(shared.domain);
    haft_job_begin(shared.domain);
    haft_thread_offline(shared.domain);
}

Test(jobs, unregistering_inside_one_is_noticed, .signal = SIGABRT)
{
    struct shared shared = open_idle((struct setting){QSBR, HAFT_CLOCK_CALLER});

    haft_job_begin(shared.domain);
    haft_thread_unregister(shared.domain);
}

Test(jobs, a_tick_inside_one_is_noticed, .signal = SIGABRT)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    struct shared shared = open_shared_on(&frames, &options);

    haft_job_begin(shared.domain);
    haft_domain_tick(shared.domain);
}
#endif

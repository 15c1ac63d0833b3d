/* The workers clock: quiescent points that workers announce themselves. */
#include "tests/support.h"

TestSuite(workers_clock, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 1000, .object_size = 8};
static const struct setting workers = {ANNOUNCED, HAFT_CLOCK_WORKERS};

static uint64_t backlog(const struct shared *shared)
{
    return haft_domain_stats_get(shared->domain).backlog;
}

/* One object freed and flushed. */
static void retire_one(struct shared *shared)
{
    assert_status(haft_free(shared->worker, insert(shared->worker)), HAFT_OK);
    assert_status(haft_worker_flush(shared->worker), HAFT_OK);
}

Test(workers_clock, a_grace_period_ends_when_each_thread_has_announced_itself)
{
    AT_END(close_shared) struct shared shared = open_shared(workers, &options);
    struct reader reader;

    reader_enter(&reader, &shared);
    retire_one(&shared);
    for (int n = 0; n < 10; n++) {
        assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
        assert_status(haft_worker_flush(shared.worker), HAFT_OK);
    }
    cr_expect(eq(u64, backlog(&shared), 1), "the reader has not announced itself");
    reader_leave(&reader);
    assert_status(haft_worker_flush(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 0));
}

Test(workers_clock, the_frees_of_the_section_that_lasts_are_not_done)
{
    AT_END(close_shared) struct shared shared = open_shared(workers, &options);

    for (int n = 0; n < 2; n++) { /* a quiescent point that has announced something is no end */
        assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
        retire_one(&shared);
        assert_status(haft_worker_flush(shared.worker), HAFT_OK);
        cr_expect(eq(u64, backlog(&shared), 1), "this thread may hold the object still");
        assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
        assert_status(haft_worker_flush(shared.worker), HAFT_OK);
        cr_expect(eq(u64, backlog(&shared), 0));
    }
}

Test(workers_clock, one_quiescent_point_counts_for_all_workers_of_its_thread)
{
    AT_END(close_shared) struct shared shared = open_shared(workers, &options);
    AT_END(table_end) haft_table *other;

    assert_status(haft_table_open(shared.domain, &options, &other), HAFT_OK);
    AT_END(worker_end) haft_worker *second = open_worker(other);

    retire_one(&shared);
    assert_status(haft_worker_quiescent(second), HAFT_OK);
    assert_status(haft_worker_flush(second), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 0));
}

Test(workers_clock, a_wait_counts_as_the_waiters_own_quiescent_point)
{
    AT_END(close_shared) struct shared shared = open_shared(workers, &options);
    haft_id id;

    retire_one(&shared);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 0));
    assert_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_OK);
    assert_status(haft_free(shared.worker, id), HAFT_OK);
    assert_status(haft_worker_flush(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 1), "after the wait it is online again");
}

static void pass_quiescent_points(struct shared *shared)
{
    for (int n = 0; n < 10; n++) {
        assert_status(haft_worker_quiescent(shared->worker), HAFT_OK);
    }
}

Test(workers_clock, on_reclaim_of_a_single_object_runs_at_a_later_quiescent_point)
{
    uint64_t reclaims = 0;
    const haft_table_options counting = {.capacity = 1000,
                                         .object_size = 8,
                                         .on_reclaim = count_reclaimed,
                                         .reclaim_arg = &reclaims};
    AT_END(close_shared) struct shared shared = open_shared(workers, &counting);
    struct reader reader;

    assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    pass_quiescent_points(&shared);
    cr_expect(eq(u64, reclaims, 1));

    reader_enter(&reader, &shared);
    assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    pass_quiescent_points(&shared);
    cr_expect(eq(u64, reclaims, 1), "the reader has not announced itself");
    reader_leave(&reader);
    pass_quiescent_points(&shared);
    cr_expect(eq(u64, reclaims, 2));
}

/* As of a pool's thread: offline, but it calls all the same. */
static void reclaim_while_away(struct shared *shared, const uint64_t *reclaims)
{
    struct reader reader;
    const uint64_t before = *reclaims;

    reader_enter(&reader, shared);
    pass_quiescent_points(shared);
    cr_expect(eq(u64, *reclaims, before), "the reader has not announced itself");
    reader_leave(&reader);
    pass_quiescent_points(shared);
    cr_expect(eq(u64, *reclaims, before + 1));
    cr_expect(eq(u64, backlog(shared), 0));
}

Test(workers_clock, on_reclaim_runs_at_quiescent_points_between_jobs_and_while_parked)
{
    uint64_t reclaims = 0;
    const haft_table_options counting = {.capacity = 1000,
                                         .object_size = 8,
                                         .on_reclaim = count_reclaimed,
                                         .reclaim_arg = &reclaims};
    AT_END(close_shared) struct shared shared = open_shared(workers, &counting);

    haft_thread_offline(shared.domain);
    haft_job_state job = haft_job_begin(shared.domain);

    assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    haft_job_end(shared.domain, job);
    reclaim_while_away(&shared, &reclaims);

    job = haft_job_begin(shared.domain);
    assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    const haft_job_state parked = haft_thread_park(shared.domain);

    reclaim_while_away(&shared, &reclaims);
    haft_thread_unpark(shared.domain, parked);
    haft_job_end(shared.domain, job);
}

Test(workers_clock, a_backlog_ends_at_a_quiescent_point_of_a_thread_that_is_offline)
{
    const haft_table_options many = {.capacity = 10000, .object_size = 8};
    AT_END(close_shared) struct shared shared = open_shared(workers, &many);
    struct reader reader;

    reader_enter(&reader, &shared);
    for (int n = 0; n < 4000; n++) {
        must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    }
    haft_thread_offline(shared.domain);
    assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(ge(u64, backlog(&shared), 1), "the reader has not announced itself");
    reader_leave(&reader);
    assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 0));
}

struct crosswise {
    haft_table *mine;
    haft_table *other;
    pthread_barrier_t *both;
};

static void *wait_for_mine(void *arg)
{
    const struct crosswise *crosswise = arg;
    haft_domain *elsewhere = haft_table_info(crosswise->other).domain;
    haft_worker *worker = open_worker(crosswise->mine);
    haft_worker *other = open_worker(crosswise->other);

    for (int n = 0; n < 100; n++) {
        must(haft_free(worker, insert(worker)) == HAFT_OK);
        must(haft_worker_flush(worker) == HAFT_OK);
        pthread_barrier_wait(crosswise->both);
        haft_thread_offline(elsewhere);
        must(haft_domain_wait(haft_table_info(crosswise->mine).domain) == HAFT_OK);
        haft_thread_online(elsewhere);
    }
    must(haft_worker_close(other) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    return NULL;
}

Test(workers_clock, threads_that_go_offline_elsewhere_can_wait_in_two_domains_crosswise)
{
    AT_END(close_shared) struct shared one = open_shared(workers, &options);
    AT_END(close_shared) struct shared two = open_shared(workers, &options);
    pthread_barrier_t both;
    struct crosswise turns[] = {{one.table, two.table, &both}, {two.table, one.table, &both}};
    pthread_t threads[2];

    must(pthread_barrier_init(&both, NULL, 2) == 0);
    haft_thread_offline(one.domain);
    haft_thread_offline(two.domain);
    for (int n = 0; n < 2; n++) {
        must(pthread_create(&threads[n], NULL, wait_for_mine, &turns[n]) == 0);
    }
    for (int n = 0; n < 2; n++) {
        pthread_join(threads[n], NULL);
    }
    pthread_barrier_destroy(&both);
    haft_thread_online(one.domain);
    haft_thread_online(two.domain);
}

Test(workers_clock, starts_no_thread_and_needs_no_registration)
{
    haft_domain *domain;
    haft_table *table;
    const haft_domain_options none = {.clock = HAFT_CLOCK_WORKERS};

    assert_status(haft_domain_open(&none, &domain), HAFT_OK);
    assert_status(haft_table_open(domain, &options, &table), HAFT_OK);
    haft_worker *worker = open_worker(table);

    for (int n = 0; n < 20000; n++) {
        must(haft_free(worker, insert(worker)) == HAFT_OK);
        if (n % 500 == 0) {
            must(haft_worker_quiescent(worker) == HAFT_OK);
        }
    }
    cr_expect(lt(u64, stats_of(table).high_water, 4000));
    expect_status(haft_domain_tick(domain), HAFT_WRONG_CLOCK);
    expect_status(haft_worker_close(worker), HAFT_OK);
    expect_status(haft_table_close(table), HAFT_OK);
    expect_status(haft_domain_close(domain), HAFT_OK);
    expect_no_leaks();
}

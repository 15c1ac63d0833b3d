/* Domains: opening, closing, waiting, counters. */
#include "tests/support.h"
#include <haft/urcu.h>

TestSuite(domain, .timeout = SUITE_SECONDS);
TestSuite(domain_wait, .timeout = SUITE_SECONDS);
TestSuite(domain_stats, .timeout = SUITE_SECONDS);

static const haft_table_options table_options = {.capacity = 1000, .object_size = 8};

static void expect_refused(haft_domain_options options, haft_status expected)
{
    haft_domain *const untouched = (haft_domain *)(void *)&options;
    haft_domain *domain = untouched;

    cr_expect(eq(int, haft_domain_open(&options, &domain), expected));
    cr_expect(eq(ptr, domain, untouched));
}

Test(domain, without_a_flavour_is_refused)
{
    haft_domain_options options = {.clock = HAFT_CLOCK_THREAD};

    expect_refused(options, HAFT_BAD_FOREIGN_CLOCK);
    options.clock = HAFT_CLOCK_CALLER;
    expect_refused(options, HAFT_BAD_FOREIGN_CLOCK);
}

Test(domain, an_unknown_clock_is_refused)
{
    haft_domain_options options = {.foreign_clock = haft_urcu_memb()};

    options.clock = HAFT_CLOCK_COUNT;
    expect_refused(options, HAFT_BAD_CLOCK);
    options.clock = (haft_clock)-1;
    expect_refused(options, HAFT_BAD_CLOCK);
    options.clock = (haft_clock)1000;
    expect_refused(options, HAFT_BAD_CLOCK);
}

/* Whether a thread with an open worker holds grace periods up, as with the workers clock alone. */
static bool waits_for_workers(haft_domain *domain)
{
    haft_table *table;

    assert_status(haft_table_open(domain, &table_options, &table), HAFT_OK);
    haft_worker *worker = open_worker(table);

    assert_status(haft_free(worker, insert(worker)), HAFT_OK);
    assert_status(haft_worker_flush(worker), HAFT_OK);
    const bool held = haft_domain_stats_get(domain).backlog == 1;

    assert_status(haft_worker_close(worker), HAFT_OK);
    assert_status(haft_table_close(table), HAFT_OK);
    return held;
}

Test(domain, without_options_has_the_workers_clock)
{
    const haft_domain_options zero = {0};
    AT_END(domain_end) haft_domain *domain;

    assert_status(haft_domain_open(NULL, &domain), HAFT_OK);
    cr_expect(waits_for_workers(domain));
    expect_status(haft_domain_close(domain), HAFT_OK);
    assert_status(haft_domain_open(&zero, &domain), HAFT_OK);
    cr_expect(waits_for_workers(domain));
}

Test(domain, a_flavour_without_a_clock_that_takes_one_is_refused)
{
    const haft_domain_options default_clock = {.foreign_clock = haft_urcu_memb()};
    const haft_domain_options frame = {.foreign_clock = haft_urcu_memb(),
                                       .clock = HAFT_CLOCK_FRAME};

    expect_refused(default_clock, HAFT_BAD_FOREIGN_CLOCK);
    expect_refused(frame, HAFT_BAD_FOREIGN_CLOCK);
}

TEST_ON_EACH_CLOCK(domain, opens_and_closes_on_a_thread_that_is_not_registered)
{
    const haft_domain_options options = domain_options(*setting);
    haft_domain *domain = NULL;

    for (int i = 0; i < 50; i++) {
        assert_status(haft_domain_open(&options, &domain), HAFT_OK);
        expect_status(haft_domain_wait(domain), HAFT_OK);
        expect_status(haft_domain_close(domain), HAFT_OK);
    }
}

TEST_ON_EACH_CLOCK(domain, with_an_open_table_is_in_use_and_goes_on_working)
{
    const haft_domain_options options = domain_options(*setting);
    AT_END(domain_end) haft_domain *domain;
    AT_END(table_end) haft_table *table;
    AT_END(worker_end) haft_worker *worker;

    assert_status(haft_domain_open(&options, &domain), HAFT_OK);
    assert_status(haft_table_open(domain, &table_options, &table), HAFT_OK);

    expect_status(haft_domain_close(domain), HAFT_IN_USE);
    worker = open_worker(table);
    expect_status(haft_free(worker, insert(worker)), HAFT_OK);
    expect_status(haft_domain_close(domain), HAFT_IN_USE);
    settle(worker);
}

TEST_ON_EACH_CLOCK(domain, two_tables_share_it_and_it_is_closed_last)
{
    AT_END(close_shared) struct shared a = open_shared(*setting, &table_options);
    haft_table *b;

    assert_status(haft_table_open(a.domain, &table_options, &b), HAFT_OK);
    haft_worker *worker = open_worker(b);

    expect_status(haft_free(a.worker, insert(a.worker)), HAFT_OK);
    expect_status(haft_free(worker, insert(worker)), HAFT_OK);
    settle(a.worker);
    settle(worker);
    cr_expect(eq(u64, haft_domain_stats_get(a.domain).backlog, 0));
    haft_worker_close(worker);
    expect_status(haft_table_close(b), HAFT_OK);
    expect_status(haft_domain_close(a.domain), HAFT_IN_USE);
}

static void insert_free_and_close(const haft_foreign_clock *foreign_clock, haft_clock clock)
{
    const haft_domain_options options = {.foreign_clock = foreign_clock, .clock = clock};
    AT_END(close_shared) struct shared shared = open_shared_on(&options, &table_options);
    const haft_id id = insert(shared.worker);

    haft_section_begin(shared.domain);
    cr_expect(ne(ptr, haft_resolve(shared.view, id), NULL));
    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    haft_section_end(shared.domain);
    expect_status(haft_free(shared.worker, id), HAFT_OK);
    settle(shared.worker);
}

Test(domain, the_flavours_mb_and_bp_work_as_memb_does)
{
    insert_free_and_close(haft_urcu_mb(), HAFT_CLOCK_CALLER);
    insert_free_and_close(haft_urcu_mb(), HAFT_CLOCK_THREAD);
    insert_free_and_close(haft_urcu_bp(), HAFT_CLOCK_CALLER);
    insert_free_and_close(haft_urcu_bp(), HAFT_CLOCK_THREAD);
}

/* The thread that closes is online: a clock in the middle of a grace period waits for it too. */
Test(domain, qsbr_online_thread_closes_while_the_clock_is_in_a_grace_period)
{
    const struct setting qsbr_thread = {QSBR, HAFT_CLOCK_THREAD};
    const haft_domain_options options = domain_options(qsbr_thread);
    AT_END(domain_end) haft_domain *other;

    assert_status(haft_domain_open(&options, &other), HAFT_OK);
    haft_thread_register(other);
    for (int i = 0; i < 5000; i++) {
        AT_END(domain_end) haft_domain *domain;
        AT_END(table_end) haft_table *table;

        assert_status(haft_domain_open(&options, &domain), HAFT_OK);
        assert_status(haft_table_open(domain, &table_options, &table), HAFT_OK);
        AT_END(worker_end) haft_worker *worker = open_worker(table);

        haft_free(worker, insert(worker));
        haft_worker_flush(worker);
        haft_free(worker, insert(worker));
        for (int n = 0; n < i % 50; n++) { /* vary the moment */
            haft_is_live(haft_table_view(table), HAFT_NIL);
            haft_worker_quiescent(worker);
        }
    }
    haft_thread_unregister(other);
}

/* --- waiting --- */

struct waiter {
    pthread_t thread;
    haft_domain *domain;
    haft_status status;
    sem_t done;
};

static void *wait_once(void *arg)
{
    struct waiter *waiter = arg;

    waiter->status = haft_domain_wait(waiter->domain);
    sem_post(&waiter->done);
    return NULL;
}

static void start_waiting(struct waiter *waiter, haft_domain *domain)
{
    waiter->domain = domain;
    sem_init(&waiter->done, 0, 0);
    cr_assert(zero(int, pthread_create(&waiter->thread, NULL, wait_once, waiter)));
}

static void free_one(struct shared *shared)
{
    must(haft_free(shared->worker, insert(shared->worker)) == HAFT_OK);
    must(haft_worker_flush(shared->worker) == HAFT_OK);
}

TEST_ON_EACH_CLOCK(domain_wait, lasts_until_a_reader_that_was_inside_has_left)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &table_options);
    struct waiter waiter;
    struct reader reader;

    reader_enter(&reader, &shared);
    haft_thread_offline(shared.domain);
    free_one(&shared);
    start_waiting(&waiter, shared.domain);
    sleep_ms(50);
    cr_expect(ne(int, sem_trywait(&waiter.done), 0), "the wait ended with a reader inside");
    cr_expect(ge(u64, haft_domain_stats_get(shared.domain).backlog, 1));
    reader_leave(&reader);
    pthread_join(waiter.thread, NULL);
    haft_thread_online(shared.domain);
    expect_status(waiter.status, HAFT_OK);
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, 0));
}

TEST_ON_EACH_CLOCK(domain_wait, with_nothing_requested_costs_no_grace_period)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &table_options);
    struct reader reader;

    settle(shared.worker);
    const uint64_t before = haft_domain_stats_get(shared.domain).grace_periods;

    reader_enter(&reader, &shared); /* a thread that waited would wait for it */
    for (int i = 0; i < 100; i++) {
        expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    }
    reader_leave(&reader);
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).grace_periods, before));
}

TEST_ON_EACH_CLOCK(domain_wait, does_not_cover_a_workers_open_batch)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &table_options);

    settle(shared.worker);
    expect_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, 0));
    cr_expect(eq(u64, stats_of(shared.table).retired, 1));
}

Test(domain_wait, inside_a_section_is_refused_and_does_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &table_options);

    expect_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    haft_worker_flush(shared.worker);
    haft_section_begin(shared.domain);
    haft_section_begin(shared.domain);
    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    haft_section_end(shared.domain);
    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, 1));
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).grace_periods, 0));
    haft_section_end(shared.domain);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
}

TEST_ON_EACH_CLOCK(domain_wait, by_several_threads_at_once_ends_for_all)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &table_options);
    struct waiter waiters[4];

    for (int round = 0; round < 50; round++) {
        expect_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
        haft_worker_flush(shared.worker);
        haft_thread_offline(shared.domain);
        for (int i = 0; i < 4; i++) {
            start_waiting(&waiters[i], shared.domain);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(waiters[i].thread, NULL);
            must(waiters[i].status == HAFT_OK);
        }
        haft_thread_online(shared.domain);
        must(haft_domain_stats_get(shared.domain).backlog == 0);
    }
}

/* --- counters --- */

Test(domain_stats, count_tickets_and_grace_periods)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &table_options);

    for (uint64_t n = 1; n <= 3; n++) {
        expect_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
        haft_worker_flush(shared.worker);
        cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, n));
        haft_worker_flush(shared.worker); /* nothing more to flush */
        cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, n));
    }
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).grace_periods, 0));
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).longest_grace_period_ns, 0));
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, 0));
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).grace_periods, 1));
    cr_expect(lt(u64, 0, haft_domain_stats_get(shared.domain).longest_grace_period_ns));
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).stalls, 0));
}

/* For most of `ms`, if the machine is not too busy for another thread to begin to wait. */
static void hold_up_a_grace_period(struct shared *shared, unsigned ms)
{
    struct waiter waiter;
    struct reader reader;

    reader_enter(&reader, shared);
    haft_thread_offline(shared->domain);
    free_one(shared);
    start_waiting(&waiter, shared->domain);
    sleep_ms(ms);
    reader_leave(&reader);
    pthread_join(waiter.thread, NULL);
    haft_thread_online(shared->domain);
}

TEST_ON_EACH_CLOCK(domain_stats, longest_grace_period_is_at_least_what_a_reader_made_it)
{
    const uint64_t long_ns = 50 * 1000 * 1000;
    AT_END(close_shared) struct shared shared = open_shared(*setting, &table_options);
    haft_domain_stats stats = haft_domain_stats_get(shared.domain);

    for (unsigned ms = 150; ms <= 5000 && stats.longest_grace_period_ns < long_ns; ms *= 2) {
        hold_up_a_grace_period(&shared, ms);
        stats = haft_domain_stats_get(shared.domain);
    }
    cr_expect(ge(u64, stats.longest_grace_period_ns, long_ns));
    free_one(&shared);
    settle(shared.worker); /* a short one after it changes nothing */
    const uint64_t longest = haft_domain_stats_get(shared.domain).longest_grace_period_ns;

    cr_expect(ge(u64, longest, stats.longest_grace_period_ns));
    cr_expect(eq(u64, stats_of(shared.table).clock.longest_grace_period_ns, longest));
    cr_expect(ge(u64, stats.grace_periods, 1));
}

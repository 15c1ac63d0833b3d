/* Workers: opening, closing, quiescent points, flushing. */
#include "tests/support.h"

TestSuite(worker, .timeout = SUITE_SECONDS);
TestSuite(quiescent, .timeout = SUITE_SECONDS);
TestSuite(flush, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 100000, .object_size = 8};

static uint64_t backlog(const struct shared *shared)
{
    return haft_domain_stats_get(shared->domain).backlog;
}

static uint64_t grace_periods(const struct shared *shared)
{
    return haft_domain_stats_get(shared->domain).grace_periods;
}

static void insert_and_free(haft_worker *worker, int count)
{
    for (int i = 0; i < count; i++) {
        must(haft_free(worker, insert(worker)) == HAFT_OK);
    }
}

Test(worker, open_and_close_are_counted)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_worker *more[10];

    cr_expect(eq(u64, stats_of(shared.table).workers, 1));
    for (int i = 0; i < 10; i++) {
        more[i] = open_worker(shared.table);
        cr_expect(eq(u64, stats_of(shared.table).workers, 2 + (uint64_t)i));
        cr_expect(eq(ptr, haft_worker_table(more[i]), shared.table));
    }
    for (int i = 0; i < 10; i++) {
        expect_status(haft_worker_close(more[i]), HAFT_OK);
    }
    cr_expect(eq(u64, stats_of(shared.table).workers, 1));
}

Test(worker, any_worker_may_free_any_id)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);

    for (int i = 0; i < 1000; i++) {
        const haft_id id = insert(shared.worker);

        must(haft_free(other, id) == HAFT_OK);
        must(haft_free(shared.worker, id) == HAFT_STALE);
    }
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
}

Test(worker, a_reserved_id_handed_to_another_worker_is_published_or_given_up_there)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    haft_id a;
    haft_id b;

    assert_status(haft_reserve(shared.worker, &a, NULL), HAFT_OK);
    assert_status(haft_reserve(shared.worker, &b, NULL), HAFT_OK);
    haft_publish(other, a);
    haft_abort(other, b);
    cr_expect(haft_is_live(shared.view, a));
    cr_expect(not(haft_is_live(shared.view, b)));
    cr_expect(eq(u64, stats_of(shared.table).live, 1));
    cr_expect(eq(u64, stats_of(shared.table).reserved, 0));
}

Test(worker, what_it_reserved_stays_reserved_after_its_close)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_worker *other = open_worker(shared.table);
    haft_id id;

    assert_status(haft_reserve(other, &id, NULL), HAFT_OK);
    expect_status(haft_worker_close(other), HAFT_OK);
    expect_status(haft_diagnose(shared.table, id), HAFT_RESERVED);
    cr_expect(eq(u64, stats_of(shared.table).reserved, 1));
    for (int i = 0; i < 1000; i++) {
        must(!haft_id_equal(insert(shared.worker), id));
    }
    haft_publish(shared.worker, id);
    cr_expect(haft_is_live(shared.view, id));
}

TEST_ON_EACH_CLOCK(worker, a_closed_workers_slots_go_to_the_next_one)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_worker *other = open_worker(shared.table);

    insert_and_free(other, 10);
    haft_worker_close(other);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    const uint64_t used = stats_of(shared.table).high_water;

    for (int n = 0; n < 50; n++) {
        other = open_worker(shared.table);
        insert_and_free(other, 10);
        haft_worker_close(other);
        expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    }
    cr_expect(eq(u64, stats_of(shared.table).high_water, used));
}

Test(worker, closes_inside_a_section)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_worker *other = open_worker(shared.table);

    insert_and_free(other, 5);
    haft_section_begin(shared.domain);
    expect_status(haft_worker_close(other), HAFT_OK);
    haft_section_end(shared.domain);
}

static void *work_unregistered(void *table)
{
    haft_worker *worker;

    if (haft_worker_open(table, &worker) != HAFT_OK) {
        return NULL;
    }
    for (int i = 0; i < 20000; i++) {
        haft_id id;

        if (haft_insert_wait(worker, NULL, &id) != HAFT_OK || haft_free(worker, id) != HAFT_OK ||
            haft_worker_quiescent(worker) != HAFT_OK) {
            return NULL;
        }
    }
    haft_worker_close(worker);
    return table;
}

TEST_ON_EACH_CLOCK(worker, a_thread_that_is_not_registered_may_insert_and_free)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    pthread_t thread;
    void *result = NULL;

    haft_thread_offline(shared.domain);
    cr_assert(zero(int, pthread_create(&thread, NULL, work_unregistered, shared.table)));
    pthread_join(thread, &result);
    haft_thread_online(shared.domain);
    cr_expect(eq(ptr, result, shared.table));
}

/* --- quiescent points --- */

Test(quiescent, inside_a_section_is_refused_and_does_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    insert_and_free(shared.worker, 100);
    haft_section_begin(shared.domain);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_IN_SECTION);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_IN_SECTION);
    cr_expect(eq(u64, backlog(&shared), 0));
    haft_section_end(shared.domain);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 1));
}

Test(quiescent, hands_on_32_freed_slots)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    insert_and_free(shared.worker, 31);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 0));
    insert_and_free(shared.worker, 1);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 1));
}

Test(quiescent, hands_on_fewer_when_none_was_freed_since_the_call_before)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    insert_and_free(shared.worker, 1);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 0));
    insert_and_free(shared.worker, 1);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 0));
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 1));
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 1));
}

Test(quiescent, hands_on_fewer_beside_frees_without_a_worker)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_id other = insert(shared.worker);

    insert_and_free(shared.worker, 1);
    expect_status(haft_table_free(shared.table, other), HAFT_OK);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 1)); /* the other's */
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 2));
}

/* Of an idle worker, until `count` objects are reclaimed, or for some seconds. */
static void await_reclaims(struct shared *shared, const uint64_t *reclaims, uint64_t count)
{
    for (int n = 0; n < 5000 && *reclaims < count; n++) {
        must(haft_worker_quiescent(shared->worker) == HAFT_OK);
        sleep_ms(1);
    }
    cr_expect(eq(u64, *reclaims, count));
}

/* No other thread asks for grace periods, and the background thread wakes for many tickets. */
Test(quiescent, of_an_idle_worker_wakes_the_thread_clock_for_each_slot_that_waits_for_on_reclaim)
{
    for (int i = 0; i < SETTINGS; i++) {
        uint64_t reclaims = 0;
        const haft_table_options counting = {.capacity = 1000,
                                             .object_size = 8,
                                             .on_reclaim = count_reclaimed,
                                             .reclaim_arg = &reclaims};

        if (settings[i].clock != HAFT_CLOCK_THREAD) {
            continue;
        }
        AT_END(close_shared) struct shared shared = open_shared(settings[i], &counting);

        insert_and_free(shared.worker, 32);
        await_reclaims(&shared, &reclaims, 32);
        must(haft_table_free(shared.table, insert(shared.worker)) == HAFT_OK);
        await_reclaims(&shared, &reclaims, 33);
        insert_and_free(shared.worker, 200);
        await_reclaims(&shared, &reclaims, 233);
    }
}

Test(quiescent, does_not_answer_for_an_allocation_failure_before_the_worker_was_opened)
{
    const haft_table_options all = {.capacity = 4, .layout = HAFT_LAYOUT_OF(3, 32, 0)};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &all);
    AT_END(worker_end) haft_worker *later;
    haft_id id;

    for (int i = 0; i < 4; i++) {
        id = insert(shared.worker);
    }
    must(haft_free(shared.worker, id) == HAFT_OK);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_BUSY);
    assert_status(haft_worker_open(shared.table, &later), HAFT_OK);
    expect_status(haft_worker_quiescent(later), HAFT_OK);
    cr_expect(eq(u64, grace_periods(&shared), 0));
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, grace_periods(&shared), 1));
}

/* Frees, with a quiescent point after each 1,000, until `count` wait for a grace period. */
static void let_wait(struct shared *shared, int count)
{
    for (int n = 1000; n <= count; n += 1000) {
        insert_and_free(shared->worker, 1000);
        expect_status(haft_worker_quiescent(shared->worker), HAFT_OK);
    }
}

Test(quiescent, with_up_to_8192_slots_waiting_does_not_wait)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    let_wait(&shared, 8000);
    cr_expect(eq(u64, grace_periods(&shared), 0));
    insert_and_free(shared.worker, 192);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, grace_periods(&shared), 0));
}

Test(quiescent, with_more_than_8192_slots_waiting_waits_for_one_grace_period)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    let_wait(&shared, 8000);
    insert_and_free(shared.worker, 300);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, grace_periods(&shared), 1));
    cr_expect(lt(u64, backlog(&shared), 128)); /* of a batch that is not worth closing */
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, grace_periods(&shared), 1));
    let_wait(&shared, 8000);
    cr_expect(eq(u64, grace_periods(&shared), 1));
}

struct watcher {
    struct shared *shared;
    sem_t done;
};

static void *wait_for_grace(void *arg)
{
    struct watcher *watcher = arg;

    haft_domain_wait(watcher->shared->domain);
    sem_post(&watcher->done);
    return NULL;
}

/* Without it an online thread would hold all grace periods up. */
TEST_ON_EACH_CLOCK(quiescent, announces_the_quiescent_state)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct watcher watcher = {.shared = &shared};
    pthread_t thread;

    insert_and_free(shared.worker, 100);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    sem_init(&watcher.done, 0, 0);
    cr_assert(zero(int, pthread_create(&thread, NULL, wait_for_grace, &watcher)));
    for (int n = 0; n < 10000 && sem_trywait(&watcher.done) != 0; n++) {
        expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
        sleep_ms(1);
    }
    cr_expect(eq(u64, backlog(&shared), 0));
    haft_thread_offline(shared.domain);
    pthread_join(thread, NULL);
    haft_thread_online(shared.domain);
}

/* A pointer resolved with qsbr stays valid until the quiescent point, not longer. */
Test(quiescent, with_qsbr_it_ends_the_section)
{
    struct shared shared = open_shared((struct setting){1, HAFT_CLOCK_THREAD}, &options);

    insert_and_free(shared.worker, 10);
    haft_worker_flush(shared.worker); /* wakes the clock, which waits for this thread */
    sleep_ms(50);
    cr_expect(eq(u64, backlog(&shared), 1));
    for (int n = 0; n < 10000 && backlog(&shared) != 0; n++) {
        expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
        sleep_ms(1);
    }
    cr_expect(eq(u64, backlog(&shared), 0));
    close_shared(&shared);
}

/* --- flush --- */

TEST_ON_EACH_CLOCK(flush, hands_on_freed_slots_however_few)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct reader reader;

    reader_enter(&reader, &shared); /* or a clock with a thread may be done before we look */
    insert_and_free(shared.worker, 1);
    expect_status(haft_worker_flush(shared.worker), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 1));
    reader_leave(&reader);
}

Test(flush, of_a_worker_that_holds_nothing_takes_no_ticket)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    for (int i = 0; i < 1000; i++) {
        expect_status(haft_worker_flush(shared.worker), HAFT_OK);
    }
    cr_expect(eq(u64, backlog(&shared), 0));
}

Test(flush, inside_a_section_is_allowed)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    insert_and_free(shared.worker, 1);
    haft_section_begin(shared.domain);
    expect_status(haft_worker_flush(shared.worker), HAFT_OK);
    haft_section_end(shared.domain);
    cr_expect(eq(u64, backlog(&shared), 1));
}

/* A table with no slot to spare: those that the other worker could still reserve are needed. */
TEST_ON_EACH_CLOCK(flush, hands_on_slots_that_it_could_still_reserve)
{
    const haft_table_options small = {.capacity = 1000};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &small);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    uint64_t without = 0;
    haft_id id;

    insert(other);
    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        without++;
    }
    expect_status(haft_worker_flush(other), HAFT_OK);
    uint64_t with = without;

    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        with++;
    }
    cr_expect(lt(u64, without, with));
    cr_expect(eq(u64, with + 1, stats_of(shared.table).limit));
}

TEST_ON_EACH_CLOCK(flush, again_and_again_between_frees_loses_no_slot)
{
    const haft_table_options small = {.capacity = 200};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &small);
    uint64_t count = 0;
    haft_id id;

    for (int n = 0; n < 20000; n++) { /* a ticket each: more of them than a worker remembers */
        must(haft_insert_wait(shared.worker, NULL, &id) == HAFT_OK);
        must(haft_free(shared.worker, id) == HAFT_OK);
        must(haft_worker_flush(shared.worker) == HAFT_OK);
    }
    settle(shared.worker);
    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        count++;
    }
    cr_expect(eq(u64, count, stats_of(shared.table).limit));
}

/* --- lost with its thread --- */

struct lost {
    haft_table *table;
    haft_worker *worker;
    uint64_t freed;
};

/* Ends with its worker open, all slots of the table in its hands. */
static void *take_all_and_end(void *arg)
{
    struct lost *lost = arg;
    haft_id ids[200];

    lost->worker = open_worker(lost->table);
    for (lost->freed = 0; lost->freed < 200; lost->freed++) {
        if (haft_insert(lost->worker, NULL, &ids[lost->freed]) != HAFT_OK) {
            break;
        }
    }
    for (uint64_t i = 0; i < lost->freed; i++) {
        must(haft_free(lost->worker, ids[i]) == HAFT_OK);
    }
    return NULL;
}

TEST_ON_EACH_CLOCK(worker, of_a_thread_that_has_ended_is_closed_by_who_joined_it)
{
    const haft_table_options few = {.capacity = 60};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &few);
    struct lost lost = {.table = shared.table};
    pthread_t thread;
    haft_id id;

    for (int round = 0; round < 20; round++) {
        must(pthread_create(&thread, NULL, take_all_and_end, &lost) == 0);
        haft_thread_offline(shared.domain);
        pthread_join(thread, NULL);
        haft_thread_online(shared.domain);
        must(lost.freed >= few.capacity);
        must(stats_of(shared.table).workers == 2);
        expect_status(haft_worker_close(lost.worker), HAFT_OK);
        must(stats_of(shared.table).workers == 1);
        settle(shared.worker); /* does not wait for a thread that has ended */
    }
    for (uint64_t n = 0; n < few.capacity; n++) {
        must(haft_insert_wait(shared.worker, NULL, &id) == HAFT_OK);
    }
}

/* No slot to be had: full, or waiting for a grace period. */
#include "tests/support.h"

TestSuite(busy, .timeout = SUITE_SECONDS);
TestSuite(reserve_wait, .timeout = SUITE_SECONDS);
TestSuite(insert_wait, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 64, .object_size = 8};

#define SLOTS 128 /* the most that such a table holds */

struct held {
    struct shared shared;
    struct reader reader;
    haft_id ids[SLOTS + 1];
    int count;
};

/* All slots retired with a reader inside, so that none of them can come back. */
static void hold(struct held *held, struct setting setting)
{
    held->shared = open_shared(setting, &options);
    held->count = 0;
    while (held->count <= SLOTS &&
           haft_insert(held->shared.worker, NULL, &held->ids[held->count]) == HAFT_OK) {
        held->count++;
    }
    must(held->count >= 64 && held->count <= SLOTS);
    reader_enter(&held->reader, &held->shared);
    for (int i = 0; i < held->count; i++) {
        must(haft_free(held->shared.worker, held->ids[i]) == HAFT_OK);
    }
}

static void expect_capacity(struct shared *shared)
{
    haft_id ids[64];

    for (int i = 0; i < 64; i++) {
        must(haft_insert_wait(shared->worker, NULL, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < 64; i++) {
        must(haft_is_live(shared->view, ids[i]));
        must(haft_free(shared->worker, ids[i]) == HAFT_OK);
    }
}

TEST_ON_EACH_CLOCK(busy, all_slots_retired_with_no_grace_period_able_to_pass)
{
    struct held held;
    haft_id id = {0x5a5a};
    void *object = &held;

    hold(&held, *setting);
    for (int n = 0; n < 1000; n++) {
        must(haft_insert(held.shared.worker, NULL, &id) == HAFT_BUSY);
        must(haft_reserve(held.shared.worker, &id, &object) == HAFT_BUSY);
    }
    cr_expect(eq(u64, id.bits, 0x5a5a));
    cr_expect(eq(ptr, object, &held));
    cr_expect(eq(u64, stats_of(held.shared.table).live, 0));
    reader_leave(&held.reader);
    for (int n = 0; n < 10; n++) {
        expect_capacity(&held.shared);
    }
    for (int i = 0; i < held.count; i++) {
        must(!haft_is_live(held.shared.view, held.ids[i]));
    }
    close_shared(&held.shared);
}

TEST_ON_EACH_CLOCK(busy, a_full_table_is_full_not_busy)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_id ids[SLOTS + 1];
    int count = 0;

    while (count <= SLOTS && haft_insert(shared.worker, NULL, &ids[count]) == HAFT_OK) {
        count++;
    }
    expect_status(haft_insert(shared.worker, NULL, &ids[count]), HAFT_FULL);
    expect_status(haft_insert_wait(shared.worker, NULL, &ids[count]), HAFT_FULL);
    expect_status(haft_reserve_wait(shared.worker, &ids[count], NULL), HAFT_FULL);
}

TEST_ON_EACH_CLOCK(busy, one_grace_period_after_it_the_next_insert_succeeds)
{
    struct held held;
    haft_id id;

    hold(&held, *setting);
    must(haft_insert(held.shared.worker, NULL, &id) == HAFT_BUSY);
    reader_leave(&held.reader);
    expect_status(haft_domain_wait(held.shared.domain), HAFT_OK);
    expect_status(haft_insert(held.shared.worker, NULL, &id), HAFT_OK);
    close_shared(&held.shared);
}

/* A job system that neither waits nor asks: quiescent points alone must bring the slots back. */
TEST_ON_EACH_CLOCK(busy, ends_with_nothing_but_quiescent_points)
{
    struct held held;
    haft_status status = HAFT_BUSY;
    haft_id id;

    hold(&held, *setting);
    reader_leave(&held.reader);
    for (int n = 0; n < 2000 && status == HAFT_BUSY; n++) {
        status = haft_insert(held.shared.worker, NULL, &id);
        expect_status(haft_worker_quiescent(held.shared.worker), HAFT_OK);
        sleep_ms(1);
    }
    expect_status(status, HAFT_OK);
    close_shared(&held.shared);
}

/* A table with all slots live but one, which its own worker has just freed. */
static struct shared all_but_one(struct setting setting, haft_id *freed)
{
    const haft_table_options large = {.capacity = 5000};
    struct shared shared = open_shared(setting, &large);
    haft_id id;

    assert_status(haft_insert(shared.worker, NULL, freed), HAFT_OK);
    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        /* to the last slot */
    }
    settle(shared.worker);
    assert_status(haft_free(shared.worker, *freed), HAFT_OK);
    return shared;
}

TEST_ON_EACH_CLOCK(busy, ones_own_partial_batch_is_closed_when_no_slot_is_found)
{
    haft_id freed;
    haft_id id;
    AT_END(close_shared) struct shared shared = all_but_one(*setting, &freed);

    cr_expect(ne(int, haft_insert(shared.worker, NULL, &id), HAFT_OK));
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_OK);
    cr_expect(
        eq(u32, haft_id_index(HAFT_LAYOUT_32_32, id), haft_id_index(HAFT_LAYOUT_32_32, freed)));
}

Test(busy, wakes_a_sleeping_clock_however_few_slots_wait)
{
    haft_id freed;
    haft_id id;
    struct shared shared = all_but_one((struct setting){0, HAFT_CLOCK_THREAD}, &freed);
    haft_status status = HAFT_BUSY;

    sleep_ms(50); /* the clock is asleep again */
    for (int n = 0; n < 3000 && status != HAFT_OK; n++) {
        status = haft_insert(shared.worker, NULL, &id);
        sleep_ms(1);
    }
    expect_status(status, HAFT_OK);
    close_shared(&shared);
}

/* Slots that another worker has freed and not retired: its next quiescent point does. */
TEST_ON_EACH_CLOCK(busy, another_workers_partial_batch_comes_at_its_next_quiescent_point)
{
    const haft_table_options large = {.capacity = 5000, .layout = HAFT_LAYOUT_OF(13, 20, 0)};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &large);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    haft_id first = HAFT_NIL;
    haft_id id;

    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        first = haft_id_is_nil(first) ? id : first;
    }
    expect_status(haft_free(other, first), HAFT_OK);
    haft_insert(shared.worker, NULL, &id); /* finds nothing: the table is short of slots */
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, 0));
    expect_status(haft_worker_quiescent(other), HAFT_OK);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_OK);
    cr_expect(eq(u32, haft_id_index(large.layout, id), haft_id_index(large.layout, first)));
}

/* --- insert_wait --- */

TEST_ON_EACH_CLOCK(insert_wait, inserts_as_insert_does)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const uint64_t value = 4711;
    haft_id id;

    assert_status(haft_insert_wait(shared.worker, &value, &id), HAFT_OK);
    cr_expect(eq(u64, *(uint64_t *)haft_resolve(shared.view, id), 4711));
    assert_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_OK);
    cr_expect(eq(u64, *(uint64_t *)haft_resolve(shared.view, id), 0));
}

struct inserter {
    struct held *held;
    haft_status status;
    sem_t done;
};

static void *insert_waiting(void *arg)
{
    struct inserter *inserter = arg;
    haft_worker *worker = open_worker(inserter->held->shared.table);
    haft_id id;

    inserter->status = haft_insert_wait(worker, NULL, &id);
    sem_post(&inserter->done);
    haft_worker_close(worker);
    return NULL;
}

TEST_ON_EACH_CLOCK(insert_wait, waits_for_a_reader_and_then_succeeds)
{
    struct held held;
    struct inserter inserter = {.held = &held};
    pthread_t thread;

    hold(&held, *setting);
    haft_worker_flush(held.shared.worker);
    haft_thread_offline(held.shared.domain);
    sem_init(&inserter.done, 0, 0);
    cr_assert(zero(int, pthread_create(&thread, NULL, insert_waiting, &inserter)));
    sleep_ms(50);
    cr_expect(ne(int, sem_trywait(&inserter.done), 0), "found a slot with a reader inside");
    reader_leave(&held.reader);
    pthread_join(thread, NULL);
    haft_thread_online(held.shared.domain);
    expect_status(inserter.status, HAFT_OK);
    close_shared(&held.shared);
}

Test(insert_wait, inside_a_section_is_refused_if_it_would_have_to_wait)
{
    struct held held;
    haft_id id = {0x5a5a};
    void *object = &held;

    hold(&held, MEMB_CALLER);
    reader_leave(&held.reader);
    haft_section_begin(held.shared.domain);
    expect_status(haft_insert_wait(held.shared.worker, NULL, &id), HAFT_IN_SECTION);
    expect_status(haft_reserve_wait(held.shared.worker, &id, &object), HAFT_IN_SECTION);
    cr_expect(eq(u64, id.bits, 0x5a5a));
    cr_expect(eq(ptr, object, &held));
    cr_expect(eq(u64, stats_of(held.shared.table).live, 0));
    haft_section_end(held.shared.domain);
    expect_status(haft_insert_wait(held.shared.worker, NULL, &id), HAFT_OK);
    close_shared(&held.shared);
}

Test(insert_wait, inside_a_section_succeeds_where_it_need_not_wait)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_id id;

    haft_section_begin(shared.domain);
    for (int i = 0; i < 64; i++) {
        expect_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_OK);
    }
    haft_section_end(shared.domain);
}

/* --- reserve_wait --- */

TEST_ON_EACH_CLOCK(reserve_wait, reserves_as_reserve_does)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    void *object = NULL;
    haft_id id;

    assert_status(haft_reserve_wait(shared.worker, &id, &object), HAFT_OK);
    expect_status(haft_diagnose(shared.table, id), HAFT_RESERVED);
    haft_publish(shared.worker, id);
    cr_expect(eq(ptr, haft_resolve(shared.view, id), object));
    assert_status(haft_reserve_wait(shared.worker, &id, NULL), HAFT_OK);
    haft_abort(shared.worker, id);
}

TEST_ON_EACH_CLOCK(reserve_wait, waits_where_reserve_is_busy)
{
    struct held held;
    haft_id id = HAFT_NIL;
    void *object = NULL;

    hold(&held, *setting);
    reader_leave(&held.reader);
    for (int i = 0; i < 64; i++) {
        must(haft_reserve_wait(held.shared.worker, &id, &object) == HAFT_OK);
        must(object != NULL);
        haft_publish(held.shared.worker, id);
    }
    cr_expect(eq(u64, stats_of(held.shared.table).live, 64));
    close_shared(&held.shared);
}

TEST_ON_EACH_CLOCK(insert_wait, alone_keeps_a_small_table_going_for_ever)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_id ids[64];

    for (int i = 0; i < 64; i++) {
        must(haft_insert_wait(shared.worker, NULL, &ids[i]) == HAFT_OK);
    }
    for (int n = 0; n < 5000; n++) {
        must(haft_free(shared.worker, ids[n % 64]) == HAFT_OK);
        must(haft_insert_wait(shared.worker, NULL, &ids[n % 64]) == HAFT_OK);
    }
}

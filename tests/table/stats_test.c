/* A table's counters, at quiet moments, on every path. */
#include "tests/support.h"
#include <haft/diagnose.h>

TestSuite(stats, .timeout = SUITE_SECONDS);
TestSuite(counted, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 1000, .object_size = 8};

/* What the counters must be; the others follow. */
struct expected {
    uint64_t live;
    uint64_t reserved;
    uint64_t retired;
    uint64_t exhausted;
};

static void expect_stats(const struct shared *shared, struct expected expected)
{
    const haft_table_stats stats = stats_of(shared->table);

    cr_expect(eq(u64, stats.live, expected.live));
    cr_expect(eq(u64, stats.reserved, expected.reserved));
    cr_expect(eq(u64, stats.retired, expected.retired));
    cr_expect(eq(u64, stats.exhausted, expected.exhausted));
    cr_expect(eq(u64, stats.live + stats.reserved + stats.retired + stats.free + stats.exhausted,
                 stats.high_water));
    cr_expect(le(u64, stats.high_water, stats.limit));
}

Test(stats, of_an_empty_table_are_zero)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_table_stats stats = stats_of(shared.table);

    expect_stats(&shared, (struct expected){0, 0, 0, 0});
    cr_expect(eq(u64, stats.high_water, 0));
    cr_expect(eq(u64, stats.free, 0));
    cr_expect(eq(u64, stats.batches_moved, 0));
    cr_expect(eq(u64, stats.capacity, 1000));
    cr_expect(ge(u64, stats.limit, 1000));
}

TEST_ON_EACH_CLOCK(stats, live_is_inserted_less_freed_on_every_path)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_id id;
    haft_id other;

    assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK);
    expect_stats(&shared, (struct expected){0, 1, 0, 0});
    expect_status(haft_free(shared.worker, id), HAFT_RESERVED);
    expect_stats(&shared, (struct expected){0, 1, 0, 0});
    haft_publish(shared.worker, id);
    expect_stats(&shared, (struct expected){1, 0, 0, 0});
    other = insert(shared.worker);
    expect_stats(&shared, (struct expected){2, 0, 0, 0});
    expect_status(haft_free(shared.worker, HAFT_NIL), HAFT_NO_ID);
    expect_stats(&shared, (struct expected){2, 0, 0, 0});
    expect_status(haft_free(shared.worker, id), HAFT_OK);
    expect_status(haft_free(shared.worker, id), HAFT_STALE);
    expect_stats(&shared, (struct expected){1, 0, 1, 0});
    assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK);
    haft_abort(shared.worker, id);
    expect_stats(&shared, (struct expected){1, 0, 2, 0});
    assert_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_OK);
    expect_stats(&shared, (struct expected){2, 0, 2, 0});
    expect_status(haft_free(shared.worker, id), HAFT_OK);
    expect_status(haft_free(shared.worker, other), HAFT_OK);
    expect_stats(&shared, (struct expected){0, 0, 4, 0});
}

TEST_ON_EACH_CLOCK(stats, refused_inserts_count_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    uint64_t count = 0;
    haft_id id;
    void *object;

    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        count++;
    }
    for (int n = 0; n < 10; n++) {
        expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
        expect_status(haft_reserve(shared.worker, &id, &object), HAFT_FULL);
        expect_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_FULL);
    }
    expect_stats(&shared, (struct expected){count, 0, 0, 0});
}

TEST_ON_EACH_CLOCK(stats, retired_becomes_free_when_taken_back)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_id ids[1000];
    uint64_t retired = 0;

    for (int i = 0; i < 1000; i++) {
        ids[i] = insert(shared.worker);
    }
    for (int i = 0; i < 1000; i++) {
        assert_status(haft_free(shared.worker, ids[i]), HAFT_OK);
        retired++;
    }
    expect_stats(&shared, (struct expected){0, 0, retired, 0});
    settle(shared.worker);
    const uint64_t used = stats_of(shared.table).high_water;

    for (int i = 0; i < 1000; i++) {
        insert(shared.worker);
    }
    cr_expect(lt(u64, stats_of(shared.table).retired, 128));
    cr_expect(eq(u64, stats_of(shared.table).live, 1000));
    cr_expect(eq(u64, stats_of(shared.table).high_water, used));
}

Test(stats, exhausted_slots_are_counted_freed_or_given_up)
{
    haft_table_options last = options;
    haft_id id;

    last.layout = HAFT_LAYOUT_16_16;
    last.first_generation = 65535;
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &last);

    for (int i = 0; i < 10; i++) {
        assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    }
    expect_stats(&shared, (struct expected){0, 0, 10, 0});
    for (uint64_t i = 0; i < 10; i++) {
        assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK);
        haft_abort(shared.worker, id);
        expect_stats(&shared, (struct expected){0, 0, 10, i + 1});
    }
    settle(shared.worker);
    for (int i = 0; i < 1000; i++) {
        haft_insert(shared.worker, NULL, &id); /* reclaims the freed ones, too */
    }
    cr_expect(eq(u64, stats_of(shared.table).exhausted, 20));
    cr_expect(eq(u64, stats_of(shared.table).retired, 0));
}

Test(stats, high_water_never_falls_and_batches_moved_grows)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    haft_id ids[1000];
    uint64_t high = 0;

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 1000; i++) {
            assert_status(haft_insert_wait(shared.worker, NULL, &ids[i]), HAFT_OK);
        }
        for (int i = 0; i < 1000; i++) {
            assert_status(haft_free(other, ids[i]), HAFT_OK);
        }
        cr_expect(ge(u64, stats_of(shared.table).high_water, high));
        high = stats_of(shared.table).high_water;
    }
    cr_expect(lt(u64, 0, stats_of(shared.table).batches_moved));
    cr_expect(ge(u64, high, 1000));
}

Test(stats, high_water_counts_only_slots_that_a_worker_has_at_hand)
{
    const haft_table_options large = {.capacity = 1000000};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &large);

    insert(shared.worker);
    cr_expect(le(u64, stats_of(shared.table).high_water, 128));
    for (int i = 1; i < 100000; i++) {
        insert(shared.worker);
    }
    cr_expect(le(u64, stats_of(shared.table).high_water, 100000 + 128));
}

/* --- what is counted besides objects and slots --- */

Test(counted, refused_frees_are_counted_with_a_worker_and_without)
{
    struct shared shared =
        open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 10, .object_size = 8});
    const haft_id id = insert(shared.worker);

    assert_status(haft_free(shared.worker, id), HAFT_OK);
    cr_expect(eq(u64, stats_of(shared.table).refused_frees, 0));
    assert_status(haft_free(shared.worker, id), HAFT_STALE);
    assert_status(haft_table_free(shared.table, id), HAFT_STALE);
    assert_status(haft_free(shared.worker, HAFT_NIL), HAFT_NO_ID);
    cr_expect(eq(u64, stats_of(shared.table).refused_frees, 3));
    cr_expect(eq(u64, stats_of(shared.table).created, 1));
    cr_expect(eq(u64, stats_of(shared.table).freed, 1));
    close_shared(&shared);
}

/* Many at once, the way in: reserve, publish, insert. */
#include "tests/support.h"
#include <haft/many.h>
#include <string.h>

TestSuite(reserve_many, .timeout = SUITE_SECONDS);
TestSuite(publish_many, .timeout = SUITE_SECONDS);
TestSuite(insert_many, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 1000, .object_size = 16};

#define MOST 3000 /* more than a table of 1000 ever holds */
#define LIVE 700

static haft_id ids[MOST];
static void *objects[MOST];
static haft_status why;

/* Where nothing may be written. */
static void soil(void)
{
    for (int i = 0; i < MOST; i++) {
        ids[i].bits = 0x5a5a;
        objects[i] = ids;
    }
    why = HAFT_STATUS_COUNT;
}

static void expect_untouched_from(size_t first)
{
    for (size_t i = first; i < MOST; i++) {
        must(ids[i].bits == 0x5a5a && objects[i] == ids);
    }
}

static void abort_all(struct shared *shared, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        haft_abort(shared->worker, ids[i]);
    }
}

/* --- reserve --- */

TEST_ON_EACH_CLOCK(reserve_many, gives_ids_that_are_reserved_and_their_objects)
{
    struct shared shared = open_shared(*setting, &options);

    soil();
    cr_expect(eq(sz, haft_reserve_many(shared.worker, ids, objects, LIVE, &why), LIVE));
    expect_status(why, HAFT_OK);
    expect_untouched_from(LIVE);
    for (int i = 0; i < LIVE; i++) {
        must(haft_diagnose(shared.table, ids[i]) == HAFT_RESERVED);
        must(!haft_is_live(shared.view, ids[i]));
        memset(objects[i], i, 16);
    }
    cr_expect(eq(u64, stats_of(shared.table).reserved, LIVE));
    haft_publish_many(shared.worker, ids, LIVE);
    for (int i = 0; i < LIVE; i++) {
        must(haft_resolve(shared.view, ids[i]) == objects[i]);
        must(*(unsigned char *)objects[i] == i % 256);
    }
    cr_expect(eq(u64, stats_of(shared.table).live, LIVE));
    cr_expect(eq(u64, stats_of(shared.table).reserved, 0));
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(reserve_many, beyond_what_there_is_gives_all_there_is_and_says_full)
{
    struct shared shared = open_shared(*setting, &options);

    soil();
    const size_t count = haft_reserve_many(shared.worker, ids, objects, MOST, &why);

    cr_expect(ge(sz, count, 1000));
    expect_status(why, HAFT_FULL);
    expect_untouched_from(count);
    cr_expect(eq(u64, stats_of(shared.table).reserved, count));

    soil();
    cr_expect(eq(sz, haft_reserve_many(shared.worker, ids, objects, 1, &why), 0));
    expect_status(why, HAFT_FULL);
    expect_untouched_from(0);
    cr_expect(eq(u64, stats_of(shared.table).reserved, count));
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(reserve_many, that_came_to_an_end_is_given_up_or_published_like_any)
{
    struct shared shared = open_shared(*setting, &options);
    const size_t count = haft_reserve_many(shared.worker, ids, objects, MOST, &why);

    haft_publish_many(shared.worker, ids, 500);
    for (size_t i = 500; i < count; i++) {
        haft_abort(shared.worker, ids[i]);
    }
    cr_expect(eq(u64, stats_of(shared.table).live, 500));
    cr_expect(eq(u64, stats_of(shared.table).reserved, 0));
    settle(shared.worker);
    cr_expect(eq(sz, haft_reserve_many(shared.worker, ids, NULL, 500, &why), 500));
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(reserve_many, while_slots_wait_says_busy_and_has_them_after_a_grace_period)
{
    struct shared shared = open_shared(*setting, &options);
    size_t count;

    haft_section_begin(shared.domain);
    count = haft_reserve_many(shared.worker, ids, NULL, MOST, &why);
    haft_publish_many(shared.worker, ids, count);
    cr_expect(eq(sz, haft_free_many(shared.worker, ids, count, NULL), count));

    soil();
    cr_expect(eq(sz, haft_reserve_many(shared.worker, ids, objects, MOST, &why), 0));
    expect_status(why, HAFT_BUSY);
    cr_expect(eq(sz, haft_insert_many(shared.worker, NULL, ids, 1, &why), 0));
    expect_status(why, HAFT_BUSY);
    expect_untouched_from(0);
    haft_section_end(shared.domain);

    settle(shared.worker);
    cr_expect(ge(sz, haft_reserve_many(shared.worker, ids, objects, MOST, &why), 1000));
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(reserve_many, gives_each_slot_once)
{
    struct shared shared = open_shared(*setting, &options);
    bool given[MOST] = {false};

    for (int round = 0; round < 20; round++) {
        const size_t each = (size_t)(round * 37 % 150 + 1);
        size_t count = 0;

        memset(given, 0, sizeof given);
        while (count + each <= 900) {
            must(haft_reserve_many(shared.worker, ids + count, NULL, each, &why) == each);
            count += each;
        }
        for (size_t i = 0; i < count; i++) {
            const uint32_t index = haft_id_index(HAFT_LAYOUT_32_32, ids[i]);

            must(!given[index]);
            given[index] = true;
        }
        abort_all(&shared, count);
        settle(shared.worker);
    }
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(reserve_many, finds_what_other_workers_have)
{
    struct shared shared = open_shared(*setting, &options);
    haft_worker *other = open_worker(shared.table);
    const size_t count = haft_reserve_many(other, ids, NULL, MOST, &why);

    abort_all(&(struct shared){.worker = other}, count);
    settle(other);
    cr_expect(ge(sz, haft_reserve_many(shared.worker, ids, NULL, MOST, &why), 1000));
    expect_status(haft_worker_close(other), HAFT_OK);
    close_shared(&shared);
}

static void reserve_in_callback(void *object, haft_id id, haft_worker *worker, void *arg)
{
    size_t *reserved = arg;
    haft_id three[3];
    haft_status status;

    (void)object;
    (void)id;
    if (worker != NULL) {
        const size_t count = haft_reserve_many(worker, three, NULL, 3, &status);

        haft_publish_many(worker, three, count);
        must(haft_free_many(worker, three, count, NULL) == count);
        must(count == 3 || status == HAFT_BUSY || status == HAFT_FULL);
        *reserved += count;
    }
}

TEST_ON_EACH_CLOCK(reserve_many, from_on_reclaim_gives_slots_or_says_why_not)
{
    size_t reserved = 0;
    const haft_table_options calling = {
        .capacity = 500, .on_reclaim = reserve_in_callback, .reclaim_arg = &reserved};
    struct shared shared = open_shared(*setting, &calling);

    for (int round = 0; round < 50; round++) {
        const size_t count = haft_reserve_many(shared.worker, ids, NULL, 300, &why);

        haft_publish_many(shared.worker, ids, count);
        must(haft_free_many(shared.worker, ids, count, NULL) == count);
        cr_expect(eq(u64, stats_of(shared.table).live, 0));
        cr_expect(eq(u64, stats_of(shared.table).reserved, 0));
        settle(shared.worker);
        assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    }
    cr_expect(gt(sz, reserved, 100));
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(reserve_many, publish_many_and_free_many_of_none_do_nothing)
{
    struct shared shared = open_shared(*setting, &options);

    soil();
    cr_expect(zero(sz, haft_reserve_many(shared.worker, ids, objects, 0, &why)));
    expect_status(why, HAFT_OK);
    haft_publish_many(shared.worker, NULL, 0);
    cr_expect(zero(sz, haft_free_many(shared.worker, NULL, 0, NULL)));
    expect_untouched_from(0);
    cr_expect(zero(u64, stats_of(shared.table).high_water));
    close_shared(&shared);
}

/* --- publish --- */

TEST_ON_EACH_CLOCK(publish_many, takes_what_another_worker_reserved)
{
    struct shared shared = open_shared(*setting, &options);
    haft_worker *other = open_worker(shared.table);

    must(haft_reserve_many(other, ids, NULL, LIVE, NULL) == LIVE);
    haft_publish_many(shared.worker, ids, LIVE);
    cr_expect(eq(u64, stats_of(shared.table).live, LIVE));
    cr_expect(eq(u64, stats_of(shared.table).reserved, 0));
    expect_status(haft_worker_close(other), HAFT_OK);
    close_shared(&shared);
}

/* --- insert --- */

static unsigned char bytes[MOST * 128];

static void expect_inserted(struct setting setting, size_t size, size_t count)
{
    const haft_table_options sized = {.capacity = 1000, .object_size = size};
    struct shared shared = open_shared(setting, &sized);

    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 31 + i / 256);
    }
    soil();
    cr_expect(eq(sz, haft_insert_many(shared.worker, bytes, ids, count, &why), count));
    expect_status(why, HAFT_OK);
    expect_untouched_from(count);
    for (size_t i = 0; i < count; i++) {
        const void *object = haft_resolve(shared.view, ids[i]);

        must(object != NULL && memcmp(object, bytes + i * size, size) == 0);
    }
    cr_expect(eq(u64, stats_of(shared.table).live, count));
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(insert_many, copies_each_object_of_any_size)
{
    expect_inserted(*setting, 0, LIVE);
    expect_inserted(*setting, 1, LIVE);
    expect_inserted(*setting, 8, LIVE);
    expect_inserted(*setting, 13, LIVE);
    expect_inserted(*setting, 64, LIVE);
    expect_inserted(*setting, 72, LIVE);
    expect_inserted(*setting, 128, LIVE);
    expect_inserted(*setting, 16, 0);
    expect_inserted(*setting, 16, 1);
}

TEST_ON_EACH_CLOCK(insert_many, without_objects_zeroes_the_bytes_also_of_used_slots)
{
    static const unsigned char zeros[16];
    struct shared shared = open_shared(*setting, &options);

    memset(bytes, 0xff, sizeof bytes);
    for (int round = 0; round < 2; round++) {
        must(haft_insert_many(shared.worker, bytes, ids, 1000, NULL) == 1000);
        must(haft_free_many(shared.worker, ids, 1000, NULL) == 1000);
        settle(shared.worker);
    }
    must(haft_insert_many(shared.worker, NULL, ids, 1000, &why) == 1000);
    for (int i = 0; i < 1000; i++) {
        must(memcmp(haft_resolve(shared.view, ids[i]), zeros, 16) == 0);
    }
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(insert_many, beyond_what_there_is_inserts_all_it_can_from_the_first_on)
{
    struct shared shared = open_shared(*setting, &options);

    soil();
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i / 16);
    }
    const size_t count = haft_insert_many(shared.worker, bytes, ids, MOST, &why);

    cr_expect(ge(sz, count, 1000));
    expect_status(why, HAFT_FULL);
    expect_untouched_from(count);
    for (size_t i = 0; i < count; i++) {
        must(*(unsigned char *)haft_resolve(shared.view, ids[i]) == i % 256);
    }
    cr_expect(eq(u64, stats_of(shared.table).live, count));

    soil();
    cr_expect(eq(sz, haft_insert_many(shared.worker, bytes, ids, 5, &why), 0));
    expect_status(why, HAFT_FULL);
    expect_untouched_from(0);
    cr_expect(eq(u64, stats_of(shared.table).live, count));
    close_shared(&shared);
}

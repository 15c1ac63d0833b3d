/* Many at once: insert, free. */
#include "tests/support.h"
#include <haft/table.h>
#include <string.h>

TestSuite(insert_many, .timeout = SUITE_SECONDS);
TestSuite(free_many, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 1000, .object_size = 16};

#define MOST 3000 /* more than a table of 1000 ever holds */
#define LIVE 700

static haft_id ids[MOST];
static haft_status why;

/* Where nothing may be written. */
static void soil(void)
{
    for (int i = 0; i < MOST; i++) {
        ids[i].bits = 0x5a5a;
    }
    why = HAFT_STATUS_COUNT;
}

static void expect_untouched_from(size_t first)
{
    for (size_t i = first; i < MOST; i++) {
        must(ids[i].bits == 0x5a5a);
    }
}

/* --- insert --- */

static unsigned char bytes[MOST * 128];

static void expect_inserted(struct setting setting, size_t size, size_t count)
{
    const haft_table_options sized = {.capacity = 1000, .object_size = size};
    AT_END(close_shared) struct shared shared = open_shared(setting, &sized);

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

Test(insert_many, notes_where_each_object_was_allocated)
{
    const haft_table_options noting = {.capacity = 1000, .object_size = 8, .sites = true};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &noting);
    char text[400];

    must(haft_insert_many(shared.worker, bytes, ids, 10, NULL) == 10);
    for (int i = 0; i < 10; i++) {
        haft_diagnose_format(shared.table, ids[i], text, sizeof text);
        cr_expect(ne(ptr, strstr(text, "(HAFT_OK); allocated at "), NULL), "%s", text);
        cr_expect(eq(ptr, strstr(text, "somewhere"), NULL), "%s", text);
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
}

TEST_ON_EACH_CLOCK(insert_many, without_objects_zeroes_the_bytes_also_of_used_slots)
{
    static const unsigned char zeros[16];
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

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
}

TEST_ON_EACH_CLOCK(insert_many, beyond_what_there_is_inserts_all_it_can_from_the_first_on)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

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
}

TEST_ON_EACH_CLOCK(insert_many, while_slots_wait_says_busy_and_has_them_after_a_grace_period)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    size_t count;

    haft_section_begin(shared.domain);
    count = haft_insert_many(shared.worker, NULL, ids, MOST, &why);
    cr_expect(eq(sz, haft_free_many(shared.worker, ids, count, NULL), count));

    soil();
    cr_expect(eq(sz, haft_insert_many(shared.worker, NULL, ids, MOST, &why), 0));
    expect_status(why, HAFT_BUSY);
    expect_untouched_from(0);
    haft_section_end(shared.domain);

    settle(shared.worker);
    cr_expect(ge(sz, haft_insert_many(shared.worker, NULL, ids, MOST, &why), 1000));
}

TEST_ON_EACH_CLOCK(insert_many, gives_each_slot_once)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    bool given[MOST] = {false};

    for (int round = 0; round < 20; round++) {
        const size_t each = (size_t)(round * 37 % 150 + 1);
        size_t count = 0;

        memset(given, 0, sizeof given);
        while (count + each <= 900) {
            must(haft_insert_many(shared.worker, NULL, ids + count, each, &why) == each);
            count += each;
        }
        for (size_t i = 0; i < count; i++) {
            const uint32_t index = haft_id_index(HAFT_LAYOUT_32_32, ids[i]);

            must(!given[index]);
            given[index] = true;
        }
        must(haft_free_many(shared.worker, ids, count, NULL) == count);
        settle(shared.worker);
    }
}

TEST_ON_EACH_CLOCK(insert_many, finds_what_other_workers_have)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    const size_t count = haft_insert_many(other, NULL, ids, MOST, &why);

    must(haft_free_many(other, ids, count, NULL) == count);
    settle(other);
    cr_expect(ge(sz, haft_insert_many(shared.worker, NULL, ids, MOST, &why), 1000));
}

static void insert_in_callback(void *object, haft_id id, haft_worker *worker, void *arg)
{
    size_t *inserted = arg;
    haft_id three[3];
    haft_status status;

    const size_t count = haft_insert_many(worker, NULL, three, 3, &status);

    must(haft_free_many(worker, three, count, NULL) == count);
    must(count == 3 || status == HAFT_BUSY || status == HAFT_FULL || status == HAFT_CLOSED);
    *inserted += count;
}

TEST_ON_EACH_CLOCK(insert_many, from_on_reclaim_gives_slots_or_says_why_not)
{
    size_t inserted = 0;
    const haft_table_options calling = {
        .capacity = 500, .on_reclaim = insert_in_callback, .reclaim_arg = &inserted};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &calling);

    for (int round = 0; round < 50; round++) {
        const size_t count = haft_insert_many(shared.worker, NULL, ids, 300, &why);

        must(haft_free_many(shared.worker, ids, count, NULL) == count);
        cr_expect(eq(u64, stats_of(shared.table).live, 0));
        cr_expect(eq(u64, stats_of(shared.table).reserved, 0));
        settle(shared.worker);
        assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    }
    cr_expect(lt(sz, 100, inserted));
}

TEST_ON_EACH_CLOCK(insert_many, and_free_many_of_none_do_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

    soil();
    cr_expect(zero(sz, haft_insert_many(shared.worker, NULL, ids, 0, &why)));
    expect_status(why, HAFT_OK);
    cr_expect(zero(sz, haft_free_many(shared.worker, NULL, 0, NULL)));
    expect_untouched_from(0);
    cr_expect(zero(u64, stats_of(shared.table).high_water));
}

/* --- free --- */

static haft_status statuses[MOST];

static struct shared open_filled(struct setting setting, size_t count)
{
    struct shared shared = open_shared(setting, &options);

    must(haft_insert_many(shared.worker, NULL, ids, count, NULL) == count);
    return shared;
}

TEST_ON_EACH_CLOCK(free_many, frees_each_id)
{
    AT_END(close_shared) struct shared shared = open_filled(*setting, 1000);

    statuses[900] = HAFT_STATUS_COUNT;
    cr_expect(eq(sz, haft_free_many(shared.worker, ids, 900, statuses), 900));
    for (int i = 0; i < 900; i++) {
        must(statuses[i] == HAFT_OK && !haft_is_live(shared.view, ids[i]));
    }
    cr_expect(eq(int, statuses[900], HAFT_STATUS_COUNT));
    for (int i = 900; i < 1000; i++) {
        must(haft_is_live(shared.view, ids[i]));
    }
    cr_expect(eq(u64, stats_of(shared.table).live, 100));
    cr_expect(eq(u64, stats_of(shared.table).retired, 900));
}

TEST_ON_EACH_CLOCK(free_many, of_one_id_many_times_frees_it_once_the_first)
{
    AT_END(close_shared) struct shared shared = open_filled(*setting, 1);

    for (int i = 1; i < 500; i++) {
        ids[i] = ids[0];
    }
    cr_expect(eq(sz, haft_free_many(shared.worker, ids, 500, statuses), 1));
    expect_status(statuses[0], HAFT_OK);
    for (int i = 1; i < 500; i++) {
        must(statuses[i] == HAFT_STALE);
    }
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    cr_expect(eq(u64, stats_of(shared.table).retired, 1));
}

TEST_ON_EACH_CLOCK(free_many, of_duplicates_reuses_each_slot_once)
{
    AT_END(close_shared) struct shared shared = open_filled(*setting, 1000);
    bool given[MOST] = {false};

    memcpy(ids + 1000, ids, 1000 * sizeof ids[0]);
    cr_expect(eq(sz, haft_free_many(shared.worker, ids, 2000, statuses), 1000));
    settle(shared.worker);
    const size_t count = haft_insert_many(shared.worker, NULL, ids, MOST, NULL);

    for (size_t i = 0; i < count; i++) {
        const uint32_t index = haft_id_index(HAFT_LAYOUT_32_32, ids[i]);

        must(!given[index]);
        given[index] = true;
    }
}

TEST_ON_EACH_CLOCK(free_many, says_of_each_id_what_free_would_and_frees_the_others)
{
    const haft_table_options tagged = {
        .capacity = 100, .layout = {20, 20, 8, 0}, .tag = 7, .first_generation = 5};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &tagged);
    haft_id mixed[9];

    must(haft_insert_many(shared.worker, NULL, ids, 4, NULL) == 4);
    must(haft_reserve(shared.worker, &ids[4], NULL) == HAFT_OK);
    must(haft_free(shared.worker, ids[3]) == HAFT_OK);
    mixed[0] = ids[0];
    mixed[1] = HAFT_NIL;
    mixed[2] = ids[1];
    mixed[3].bits = UINT64_C(1) << 60 | ids[2].bits;
    mixed[4] = haft_id_pack(tagged.layout, 10, 5, 6);
    mixed[5] = haft_id_pack(tagged.layout, 90, 5, 7);
    mixed[6] = ids[4];
    mixed[7] = ids[3];
    mixed[8] = ids[2];
    cr_expect(eq(sz, haft_free_many(shared.worker, mixed, 9, statuses), 3));
    expect_status(statuses[0], HAFT_OK);
    expect_status(statuses[1], HAFT_NO_ID);
    expect_status(statuses[2], HAFT_OK);
    expect_status(statuses[3], HAFT_MALFORMED);
    expect_status(statuses[4], HAFT_FOREIGN);
    expect_status(statuses[5], HAFT_NEVER_ISSUED);
    expect_status(statuses[6], HAFT_RESERVED);
    expect_status(statuses[7], HAFT_STALE);
    expect_status(statuses[8], HAFT_OK);
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    cr_expect(eq(u64, stats_of(shared.table).reserved, 1));
    haft_publish(shared.worker, ids[4]);
    cr_expect(haft_is_live(shared.view, ids[4]));
}

TEST_ON_EACH_CLOCK(free_many, bumps_every_generation)
{
    AT_END(close_shared) struct shared shared = open_filled(*setting, 1000);
    uint64_t lives[MOST] = {0};

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 1000; i++) {
            const uint64_t generation = haft_id_generation(HAFT_LAYOUT_32_32, ids[i]);
            uint64_t *last = &lives[haft_id_index(HAFT_LAYOUT_32_32, ids[i])];

            must(generation == *last + 1);
            *last = generation;
        }
        must(haft_free_many(shared.worker, ids, 1000, NULL) == 1000);
        settle(shared.worker);
        must(haft_insert_many(shared.worker, NULL, ids, 1000, NULL) == 1000);
    }
}

static void count_call(void *object, haft_id id, haft_worker *worker, void *arg)
{
    unsigned char *calls = arg;

    calls[haft_id_index(HAFT_LAYOUT_32_32, id)]++;
}

TEST_ON_EACH_CLOCK(free_many, has_on_reclaim_called_once_for_each_freed_object)
{
    static unsigned char calls[MOST];
    const haft_table_options calling = {
        .capacity = 1000, .on_reclaim = count_call, .reclaim_arg = calls};
    struct shared shared = open_shared(*setting, &calling);

    memset(calls, 0, sizeof calls);
    must(haft_insert_many(shared.worker, NULL, ids, 1000, NULL) == 1000);
    memcpy(ids + 1000, ids, 500 * sizeof ids[0]);
    must(haft_free_many(shared.worker, ids, 1500, NULL) == 1000);
    close_shared(&shared);
    for (int i = 0; i < 1000; i++) {
        must(calls[haft_id_index(HAFT_LAYOUT_32_32, ids[i])] == 1);
    }
}

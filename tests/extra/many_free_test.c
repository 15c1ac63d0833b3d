/* Many at once, the way out: free. */
#include "tests/support.h"
#include <haft/many.h>
#include <string.h>

TestSuite(free_many, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 1000, .object_size = 16};

#define MOST 3000 /* more than a table of 1000 ever holds */

static haft_id ids[MOST];
static haft_status statuses[MOST];

static struct shared open_filled(struct setting setting, size_t count)
{
    struct shared shared = open_shared(setting, &options);

    must(haft_insert_many(shared.worker, NULL, ids, count, NULL) == count);
    return shared;
}

TEST_ON_EACH_CLOCK(free_many, frees_each_id)
{
    struct shared shared = open_filled(*setting, 1000);

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
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(free_many, of_one_id_many_times_frees_it_once_the_first)
{
    struct shared shared = open_filled(*setting, 1);

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
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(free_many, of_duplicates_reuses_each_slot_once)
{
    struct shared shared = open_filled(*setting, 1000);
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
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(free_many, says_of_each_id_what_free_would_and_frees_the_others)
{
    const haft_table_options tagged = {
        .capacity = 100, .layout = {20, 20, 8}, .tag = 7, .first_generation = 5};
    struct shared shared = open_shared(*setting, &tagged);
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
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(free_many, with_stale_ids_leaves_the_new_tenants_alone)
{
    struct shared shared = open_filled(*setting, 1000);
    static haft_id tenants[MOST];

    must(haft_free_many(shared.worker, ids, 1000, NULL) == 1000);
    settle(shared.worker);
    const size_t count = haft_insert_many(shared.worker, NULL, tenants, MOST, NULL);

    cr_expect(ge(sz, count, 1000));
    cr_expect(eq(sz, haft_free_many(shared.worker, ids, 1000, statuses), 0));
    for (size_t i = 0; i < count; i++) {
        must(haft_is_live(shared.view, tenants[i]));
    }
    cr_expect(eq(u64, stats_of(shared.table).live, count));
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(free_many, bumps_every_generation)
{
    struct shared shared = open_filled(*setting, 1000);
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
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(free_many, of_last_lives_exhausts_the_slots)
{
    const haft_table_options mortal = {.capacity = 200, .layout = {16, 1, 0}};
    struct shared shared = open_shared(*setting, &mortal);
    const size_t count = haft_insert_many(shared.worker, NULL, ids, MOST, NULL);

    cr_expect(eq(sz, haft_free_many(shared.worker, ids, count, NULL), count));
    settle(shared.worker);
    cr_expect(eq(sz, haft_insert_many(shared.worker, NULL, ids + count, 1, NULL), 0));
    cr_expect(eq(sz, haft_free_many(shared.worker, ids, count, statuses), 0));
    for (size_t i = 0; i < count; i++) {
        must(statuses[i] == HAFT_EXHAUSTED);
    }
    cr_expect(eq(u64, stats_of(shared.table).exhausted, count));
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(free_many, inside_a_section_leaves_the_objects_readable_until_it_ends)
{
    struct shared shared = open_filled(*setting, 1000);
    static const uint64_t *objects[1000];

    haft_section_begin(shared.domain);
    for (int i = 0; i < 1000; i++) {
        uint64_t *object = haft_resolve(shared.view, ids[i]);

        *object = ids[i].bits;
        objects[i] = object;
    }
    must(haft_free_many(shared.worker, ids, 1000, NULL) == 1000);
    static haft_id others[MOST];

    haft_insert_many(shared.worker, NULL, others, MOST, NULL);
    for (int i = 0; i < 1000; i++) {
        must(*objects[i] == ids[i].bits);
    }
    haft_section_end(shared.domain);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(free_many, by_another_worker_than_inserted_them_gives_the_slots_to_both)
{
    struct shared shared = open_filled(*setting, 1000);
    haft_worker *other = open_worker(shared.table);

    cr_expect(eq(sz, haft_free_many(other, ids, 1000, NULL), 1000));
    settle(other);
    cr_expect(ge(sz, haft_insert_many(shared.worker, NULL, ids, MOST, NULL), 1000));
    expect_status(haft_worker_close(other), HAFT_OK);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(free_many, in_a_table_that_fills_its_index_range_gives_every_slot_back)
{
    const haft_table_options whole = {.capacity = 65532, .layout = HAFT_LAYOUT_16_16};
    struct shared shared = open_shared(*setting, &whole);
    static haft_id all[65532];

    for (int round = 0; round < 3; round++) {
        must(haft_insert_many(shared.worker, NULL, all, 65532, NULL) == 65532);
        must(haft_free_many(shared.worker, all, 65532, NULL) == 65532);
        settle(shared.worker);
    }
    close_shared(&shared);
}

static void count_call(void *object, haft_id id, haft_worker *worker, void *arg)
{
    unsigned char *calls = arg;

    (void)object;
    (void)worker;
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

/* exact_capacity: never more than `capacity` objects live or reserved. */
#include "tests/support.h"
#include <haft/share.h>
#include <haft/table.h>
#include <haft/threads.h>
#include <stdatomic.h>
#include <stdlib.h>

TestSuite(exact, .timeout = SUITE_SECONDS);

#define CAPACITY 10

static struct shared open_exact(struct setting setting, uint64_t capacity, haft_layout layout)
{
    const haft_table_options options = {
        .capacity = capacity, .exact_capacity = true, .object_size = 8, .layout = layout};

    return open_shared(setting, &options);
}

static void fill(struct shared *shared, haft_id *ids, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        ids[i] = insert(shared->worker);
    }
}

TEST_ON_EACH_CLOCK(exact, as_many_objects_fit_as_the_capacity_says_and_then_it_is_full)
{
    struct shared shared = open_exact(*setting, CAPACITY, HAFT_LAYOUT_32_32);
    haft_id ids[CAPACITY];
    haft_id id = HAFT_NIL;

    fill(&shared, ids, CAPACITY);
    const uint64_t used = stats_of(shared.table).high_water;

    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
    expect_status(haft_insert(shared.worker, &used, &id), HAFT_FULL);
    expect_status(haft_reserve(shared.worker, &id, NULL), HAFT_FULL);
    expect_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_FULL);
    expect_status(haft_insert_unregistered(shared.table, NULL, &id), HAFT_FULL);
    cr_expect(zero(u64, id.bits));
    cr_expect(eq(u64, stats_of(shared.table).live, CAPACITY));
    cr_expect(eq(u64, stats_of(shared.table).high_water, used));
    close_shared(&shared);
}

/* By a worker that has no slots at hand, and finds more of them than fit. */
TEST_ON_EACH_CLOCK(exact, of_many_no_more_are_inserted_than_there_is_room_for)
{
    const uint64_t capacity = 1000;
    static haft_id ids[1000];

    for (uint64_t room = 0; room <= 10; room++) {
        struct shared shared = open_exact(*setting, capacity, HAFT_LAYOUT_32_32);
        haft_status why;

        fill(&shared, ids, capacity - room);
        haft_worker *other = open_worker(shared.table);

        cr_expect(eq(sz, haft_insert_many(other, NULL, ids, 10, &why), room));
        cr_expect(room == 10 ? why == HAFT_OK : why == HAFT_FULL);
        cr_expect(eq(u64, stats_of(shared.table).live, capacity));
        assert_status(haft_worker_close(other), HAFT_OK);
        close_shared(&shared);
    }
}

/* Also where slots are at hand, beyond the capacity, and the object is a few words. */
TEST_ON_EACH_CLOCK(exact, slots_that_workers_hold_back_do_not_count)
{
    struct shared shared = open_exact(*setting, 1000, HAFT_LAYOUT_32_32);
    const uint64_t value = 7;
    uint64_t count = 0;
    haft_id id;

    while (haft_insert(shared.worker, &value, &id) == HAFT_OK) {
        count++;
    }
    cr_expect(eq(u64, count, 1000));
    assert_status(haft_free(shared.worker, id), HAFT_OK);
    expect_status(haft_insert(shared.worker, &value, &id), HAFT_OK);
    expect_status(haft_insert(shared.worker, &value, &id), HAFT_FULL);
    close_shared(&shared);
}

Test(exact, a_reservation_counts_until_it_is_given_up)
{
    struct shared shared = open_exact(MEMB_CALLER, 1, HAFT_LAYOUT_32_32);
    haft_id id;
    haft_id other = HAFT_NIL;

    assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK);
    expect_status(haft_insert(shared.worker, NULL, &other), HAFT_FULL);
    haft_abort(shared.worker, id);
    expect_status(haft_insert(shared.worker, NULL, &other), HAFT_OK);
    close_shared(&shared);
}

Test(exact, a_reservation_of_the_last_generation_that_is_given_up_counts_no_longer)
{
    struct shared shared = open_exact(MEMB_CALLER, 1, HAFT_LAYOUT_OF(8, 1, 0));
    haft_id id;

    assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK);
    haft_abort(shared.worker, id);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_OK);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(exact, a_free_makes_room_for_one)
{
    struct shared shared = open_exact(*setting, CAPACITY, HAFT_LAYOUT_32_32);
    haft_id ids[CAPACITY];
    haft_id id;

    fill(&shared, ids, CAPACITY);
    for (int i = 0; i < 100; i++) {
        assert_status(haft_free(shared.worker, ids[0]), HAFT_OK);
        expect_status(haft_free(shared.worker, ids[0]), HAFT_STALE);
        assert_status(haft_insert_wait(shared.worker, NULL, &ids[0]), HAFT_OK);
        expect_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_FULL);
    }
    close_shared(&shared);
}

/* The layout has no index beyond the capacity, and a reader holds up the only slot. */
TEST_ON_EACH_CLOCK(exact, with_room_and_a_slot_that_waits_it_is_busy)
{
    struct shared shared = open_exact(*setting, 4, HAFT_LAYOUT_OF(3, 8, 0));
    struct reader reader;
    haft_id ids[4];
    haft_id id;

    fill(&shared, ids, 4);
    reader_enter(&reader, &shared);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
    assert_status(haft_free(shared.worker, ids[2]), HAFT_OK);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_BUSY);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_BUSY);
    reader_leave(&reader);
    expect_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_OK);
    expect_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_FULL);
    close_shared(&shared);
}

Test(exact, many_at_once_are_as_many_as_fit)
{
    struct shared shared = open_exact(MEMB_CALLER, CAPACITY, HAFT_LAYOUT_32_32);
    haft_id ids[2 * CAPACITY];
    haft_status why = HAFT_OK;

    cr_expect(eq(sz, haft_insert_many(shared.worker, NULL, ids, 7, &why), 7));
    cr_expect(eq(sz, haft_insert_many(shared.worker, NULL, ids + 7, 7, &why), CAPACITY - 7));
    expect_status(why, HAFT_FULL);
    cr_expect(eq(sz, haft_free_many(shared.worker, ids, 4, NULL), 4));
    settle(shared.worker);
    cr_expect(eq(sz, haft_insert_many(shared.worker, NULL, ids, CAPACITY, &why), 4));
    expect_status(why, HAFT_FULL);
    close_shared(&shared);
}

Test(exact, many_at_once_are_refused_when_none_fits_though_the_worker_has_slots)
{
    struct shared shared = open_exact(MEMB_CALLER, 10000, HAFT_LAYOUT_32_32);
    haft_worker *other = open_worker(shared.table);
    haft_status status = HAFT_OK;
    haft_id ids[2];
    haft_id id;

    insert(other); /* and it has more slots in hand */
    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        /* until it is full */
    }
    cr_expect(eq(u64, haft_insert_many(other, NULL, ids, 2, &status), 0));
    expect_status(status, HAFT_FULL);
    haft_worker_close(other);
    close_shared(&shared);
}

#define PLENTY 400000

struct crowding {
    struct shared shared;
    atomic_bool has_begun;
    atomic_bool has_ended;
};

static void *reserve_plenty(void *arg)
{
    struct crowding *crowding = arg;
    haft_worker *worker = open_worker(crowding->shared.table);
    haft_id *ids = malloc(PLENTY * sizeof *ids);
    haft_status why;

    must(ids != NULL);
    atomic_store(&crowding->has_begun, true);
    const size_t count = haft_insert_many(worker, NULL, ids, PLENTY, &why);

    atomic_store(&crowding->has_ended, true);
    must(haft_free_many(worker, ids, count, NULL) == count);
    free(ids);
    must(haft_worker_close(worker) == HAFT_OK);
    return NULL;
}

/* While half the table is free.  Frame clock: what is freed here is not used again. */
static bool finds_slots(struct shared *shared, const atomic_bool *has_ended)
{
    haft_id id;

    for (int n = 0; n < 20000 && !atomic_load(has_ended); n++) {
        const haft_status status = haft_insert(shared->worker, NULL, &id);
        const haft_table_stats stats = stats_of(shared->table);

        if (stats.reserved + stats.retired > PLENTY / 2) {
            return true;
        }
        if (status != HAFT_OK || haft_free(shared->worker, id) != HAFT_OK) {
            return false;
        }
    }
    return true;
}

Test(exact, many_at_once_leave_the_rest_to_others)
{
    const haft_domain_options frame = {.clock = HAFT_CLOCK_FRAME};
    const haft_table_options exact_options = {
        .capacity = PLENTY, .exact_capacity = true, .object_size = 8};

    for (int round = 0; round < 20; round++) {
        struct crowding crowding = {.shared = open_shared_on(&frame, &exact_options)};
        pthread_t thread;

        must(pthread_create(&thread, NULL, reserve_plenty, &crowding) == 0);
        while (!atomic_load(&crowding.has_begun)) {
        }
        must(finds_slots(&crowding.shared, &crowding.has_ended));
        pthread_join(thread, NULL);
        close_shared(&crowding.shared);
    }
}

Test(exact, restored_objects_count)
{
    const haft_table_options options = {
        .capacity = 2, .restore_range = 4, .exact_capacity = true, .layout = {8, 8, 0, 0}};
    struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_id a = haft_id_pack(options.layout, 4, 1, 0);
    const haft_id b = haft_id_pack(options.layout, 5, 1, 0);
    haft_id id;

    assert_status(haft_restore(shared.worker, a, NULL), HAFT_OK);
    insert(shared.worker);
    expect_status(haft_restore(shared.worker, b, NULL), HAFT_FULL);
    expect_status(haft_diagnose(shared.table, b), HAFT_NEVER_ISSUED);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
    assert_status(haft_free(shared.worker, a), HAFT_OK);
    expect_status(haft_restore(shared.worker, b, NULL), HAFT_OK);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
    close_shared(&shared);
}

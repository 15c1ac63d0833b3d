/* Exhausted slots taken back into use, and first generations drawn by chance. */
#include "tests/support.h"
#include <haft/memory.h>
#include <haft/packed.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <sched.h>

TestSuite(recycle, .timeout = SUITE_SECONDS);
TestSuite(random_first, .timeout = SUITE_SECONDS);

#define LAYOUT HAFT_LAYOUT_OF(12, 1, 0) /* one life each */
#define OBJECTS 300

static const haft_table_options short_lived = {
    .capacity = OBJECTS, .object_size = 8, .layout = {12, 1, 0, 0}};

static haft_id ids[2 * OBJECTS];

/* Wear all slots out; how many. */
static uint64_t wear_out(struct shared *shared)
{
    uint64_t count = 0;

    while (haft_insert(shared->worker, NULL, &ids[count]) == HAFT_OK) {
        count++;
    }
    for (uint64_t i = 0; i < count; i++) {
        must(haft_free(shared->worker, ids[i]) == HAFT_OK);
    }
    settle(shared->worker);
    haft_id id;

    must(haft_insert(shared->worker, NULL, &id) == HAFT_FULL);
    return count;
}

TEST_ON_EACH_CLOCK(recycle, exhausted_slots_live_again_from_the_first_generation)
{
    struct shared shared = open_shared(*setting, &short_lived);
    uint64_t recycled = 0;

    for (int round = 0; round < 3; round++) {
        const uint64_t worn = wear_out(&shared);

        cr_expect(eq(u64, stats_of(shared.table).exhausted, worn));
        expect_status(haft_recycle_exhausted(shared.table, &recycled), HAFT_OK);
        cr_expect(eq(u64, recycled, worn));
        cr_expect(eq(u64, stats_of(shared.table).exhausted, 0));
        cr_expect(eq(u64, stats_of(shared.table).free, stats_of(shared.table).high_water));
        for (uint64_t i = 0; i < worn; i++) {
            must(haft_diagnose(shared.table, ids[i]) == HAFT_STALE);
        }
    }
    const haft_id id = insert(shared.worker);

    cr_expect(eq(u64, haft_id_generation(LAYOUT, id), 1));
    close_shared(&shared);
}

Test(recycle, where_no_slot_is_exhausted_nothing_happens)
{
    struct shared shared = open_shared(MEMB_CALLER, &short_lived);
    uint64_t recycled = 42;
    const haft_id id = insert(shared.worker);

    expect_status(haft_recycle_exhausted(shared.table, &recycled), HAFT_OK);
    cr_expect(eq(u64, recycled, 0));
    cr_expect(haft_is_live(shared.view, id));
    expect_status(haft_recycle_exhausted(shared.table, NULL), HAFT_OK);
    close_shared(&shared);
}

Test(recycle, slots_whose_memory_was_given_back_are_passed_by)
{
    haft_table_options mixed = short_lived;
    uint64_t recycled = 42;
    static haft_id many[20000];

    mixed.capacity = 20000;
    mixed.layout = (haft_layout){16, 2, 0, 0};
    struct shared shared = open_shared(MEMB_CALLER, &mixed);

    for (int i = 0; i < 20000; i++) {
        many[i] = insert(shared.worker);
    }
    for (int i = 0; i < 20000; i++) {
        must(haft_free(shared.worker, many[i]) == HAFT_OK);
    }
    settle(shared.worker);
    assert_status(haft_trim(shared.table, NULL), HAFT_OK);
    expect_status(haft_recycle_exhausted(shared.table, &recycled), HAFT_OK);
    cr_expect(eq(u64, recycled, 0));
    close_shared(&shared);
}

#define MANY 20000

Test(recycle, ids_from_before_stay_stale_when_the_memory_is_released)
{
    const haft_table_options options = {
        .capacity = MANY, .object_size = 8, .layout = HAFT_LAYOUT_OF(20, 1, 0)};
    struct shared shared = open_shared(MEMB_CALLER, &options);
    static haft_id many[MANY];
    uint64_t released;

    for (int i = 0; i < MANY; i++) {
        many[i] = insert(shared.worker);
    }
    for (int i = 0; i < MANY; i++) {
        must(haft_free(shared.worker, many[i]) == HAFT_OK);
    }
    settle(shared.worker);
    must(haft_insert(shared.worker, NULL, &many[0]) == HAFT_OK);
    assert_status(haft_trim(shared.table, NULL), HAFT_OK);
    expect_status(haft_recycle_exhausted(shared.table, NULL), HAFT_OK);
    assert_status(haft_trim(shared.table, &released), HAFT_OK);
    cr_assert(ne(u64, released, 0));
    for (int i = 1; i < MANY; i++) {
        must(haft_diagnose(shared.table, many[i]) == HAFT_STALE);
    }
    close_shared(&shared);
}

Test(recycle, ids_from_before_stay_stale_when_a_local_tables_memory_is_released)
{
    const haft_local_options options = {
        .capacity = MANY, .object_size = 8, .layout = HAFT_LAYOUT_OF(20, 1, 0)};
    static haft_id many[MANY];
    haft_local *local;
    uint64_t released;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    for (int i = 0; i < MANY; i++) {
        must(haft_local_insert(local, NULL, &many[i]) == HAFT_OK);
    }
    for (int i = 0; i < MANY; i++) {
        must(haft_local_free(local, many[i]) == HAFT_OK);
    }
    cr_expect(eq(u64, haft_local_recycle_exhausted(local), MANY));
    assert_status(haft_local_trim(local, &released), HAFT_OK);
    cr_assert(ne(u64, released, 0));
    for (int i = 0; i < MANY; i++) {
        must(haft_local_diagnose(local, many[i]) == HAFT_STALE);
    }
    haft_local_close(local);
}

Test(recycle, a_slot_that_waits_for_its_grace_period_or_is_pinned_is_not_taken)
{
    haft_table_options pinned = short_lived;
    uint64_t recycled = 42;

    pinned.pins = true;
    struct shared shared = open_shared(MEMB_CALLER, &pinned);
    const haft_id id = insert(shared.worker);

    haft_section_begin(shared.domain);
    must(haft_pin(shared.table, id) != NULL);
    haft_section_end(shared.domain);
    must(haft_free(shared.worker, id) == HAFT_OK);
    expect_status(haft_recycle_exhausted(shared.table, &recycled), HAFT_OK);
    cr_expect(eq(u64, recycled, 0));
    settle(shared.worker);
    for (int i = 0; i < OBJECTS; i++) {
        insert(shared.worker); /* the slot is looked at, and left to its pin */
    }
    expect_status(haft_recycle_exhausted(shared.table, &recycled), HAFT_OK);
    cr_expect(eq(u64, recycled, 0));
    expect_status(haft_unpin(shared.table, id), HAFT_OK);
    expect_status(haft_recycle_exhausted(shared.table, &recycled), HAFT_OK);
    cr_expect(eq(u64, recycled, 1));
    close_shared(&shared);
}

Test(recycle, a_slot_given_up_in_its_last_life_comes_back)
{
    struct shared shared = open_shared(MEMB_CALLER, &short_lived);
    uint64_t recycled = 0;
    haft_id id;

    assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK);
    haft_abort(shared.worker, id);
    cr_expect(eq(u64, stats_of(shared.table).exhausted, 1));
    expect_status(haft_recycle_exhausted(shared.table, &recycled), HAFT_OK);
    cr_expect(eq(u64, recycled, 1));
    cr_expect(eq(u64, stats_of(shared.table).exhausted, 0));
    close_shared(&shared);
}

Test(recycle, slots_of_the_restore_range_can_be_restored_again)
{
    haft_table_options with_range = short_lived;
    uint64_t recycled = 0;

    with_range.restore_range = 10;
    struct shared shared = open_shared(MEMB_CALLER, &with_range);
    const haft_id id = haft_id_pack(LAYOUT, HAFT_FIRST_INDEX + 3, 1, 0);

    assert_status(haft_restore(shared.worker, id, NULL), HAFT_OK);
    must(haft_free(shared.worker, id) == HAFT_OK);
    settle(shared.worker);
    expect_status(haft_restore(shared.worker, id, NULL), HAFT_EXHAUSTED);
    wear_out(&shared);
    expect_status(haft_recycle_exhausted(shared.table, &recycled), HAFT_OK);
    cr_expect(lt(u64, OBJECTS, recycled));
    cr_expect(eq(u64, stats_of(shared.table).exhausted, 0));
    expect_status(haft_restore(shared.worker, id, NULL), HAFT_OK);
    cr_expect(haft_is_live(shared.view, id));
    close_shared(&shared);
}

/* A thread that wears slots out, and looks whether they are its own while they live. */
struct wearing {
    pthread_t thread;
    haft_table *table;
    sem_t *done;
    uint64_t mark;
    uint64_t lives;
    bool failed;
};

#define LIVES 3000

static void *wear_some(void *arg)
{
    struct wearing *wearing = arg;
    haft_worker *worker = open_worker(wearing->table);
    haft_id held[8] = {{0}};
    uint64_t *objects[8];

    for (uint64_t n = 0; wearing->lives < LIVES; n++) {
        const uint64_t at = n % 8;

        if (!haft_id_is_nil(held[at])) {
            wearing->failed = wearing->failed || *objects[at] != wearing->mark + at ||
                              haft_free(worker, held[at]) != HAFT_OK;
            held[at] = HAFT_NIL;
        }
        if (haft_reserve(worker, &held[at], (void **)&objects[at]) == HAFT_OK) {
            *objects[at] = wearing->mark + at;
            haft_publish(worker, held[at]);
            wearing->lives++;
        }
        must(haft_worker_quiescent(worker) == HAFT_OK);
    }
    for (int at = 0; at < 8; at++) {
        must(haft_id_is_nil(held[at]) || haft_free(worker, held[at]) == HAFT_OK);
    }
    must(haft_worker_close(worker) == HAFT_OK);
    sem_post(wearing->done);
    return NULL;
}

/* Ids repeat here at once, so that a slot with two owners would be freed twice under one id. */
TEST_ON_EACH_CLOCK(recycle, while_others_wear_slots_out_gives_each_slot_to_one_of_them)
{
    struct shared shared = open_shared(*setting, &short_lived);
    struct wearing threads[2];
    uint64_t recycled = 0;
    uint64_t sum = 0;
    sem_t done;

    sem_init(&done, 0, 0);
    for (int i = 0; i < 2; i++) {
        threads[i] = (struct wearing){
            .table = shared.table, .done = &done, .mark = 1000 * (uint64_t)(i + 1)};
        must(pthread_create(&threads[i].thread, NULL, wear_some, &threads[i]) == 0);
    }
    haft_thread_offline(shared.domain);
    for (int ended = 0; ended < 2; ended += sem_trywait(&done) == 0) {
        must(haft_recycle_exhausted(shared.table, &recycled) == HAFT_OK);
        sum += recycled;
        sched_yield();
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i].thread, NULL);
        cr_expect(not(threads[i].failed));
    }
    haft_thread_online(shared.domain);
    const haft_table_stats stats = stats_of(shared.table);

    cr_expect(ge(u64, sum + stats.high_water, 2 * LIVES)); /* one life for each */
    cr_expect(eq(u64, stats.live, 0));
    close_shared(&shared);
}

Test(recycle, in_a_local_table_they_live_again_too)
{
    const haft_local_options options = {.capacity = 4, .layout = LAYOUT};
    haft_local *local;
    haft_id id;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    cr_expect(eq(u64, haft_local_recycle_exhausted(local), 0));
    for (int i = 0; i < 4; i++) {
        must(haft_local_insert(local, NULL, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < 3; i++) {
        must(haft_local_free(local, ids[i]) == HAFT_OK);
    }
    expect_status(haft_local_insert(local, NULL, &id), HAFT_FULL);
    cr_expect(eq(u64, haft_local_recycle_exhausted(local), 3));
    cr_expect(eq(u64, haft_local_available(local), 3));
    expect_status(haft_local_diagnose(local, ids[0]), HAFT_STALE);
    cr_expect(haft_is_live(haft_local_view(local), ids[3]));
    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    cr_expect(eq(u64, haft_id_generation(LAYOUT, id), 1));
    haft_local_close(local);
}

/* The first call recycles it. */
Test(recycle, in_a_local_table_the_id_of_its_last_life_stays_stale)
{
    const haft_local_options options = {.capacity = 1, .layout = LAYOUT};
    haft_local *local;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    must(haft_local_insert(local, NULL, &ids[0]) == HAFT_OK);
    must(haft_local_free(local, ids[0]) == HAFT_OK);
    cr_expect(eq(u64, haft_local_recycle_exhausted(local), 1));
    expect_status(haft_local_diagnose(local, ids[0]), HAFT_STALE);
    haft_local_close(local);
}

/* --- by chance --- */

static uint64_t local_first(haft_layout layout)
{
    const haft_local_options options = {
        .capacity = 1, .layout = layout, .random_first_generation = true};
    haft_local *local;
    haft_id id;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    cr_expect(not(haft_id_is_nil(id)));
    haft_local_close(local);
    return haft_id_generation(layout, id);
}

Test(random_first, lies_in_the_lower_half_and_differs_from_table_to_table)
{
    const haft_layout layout = HAFT_LAYOUT_32_32;
    uint64_t same = 0;
    uint64_t last = 0;

    for (int i = 0; i < 100; i++) {
        const uint64_t first = local_first(layout);

        must(first >= 1 && first <= UINT64_C(1) << 31);
        same += first == last;
        last = first;
        must(local_first(HAFT_LAYOUT_OF(10, 2, 0)) <= 2);
        must(local_first(LAYOUT) == 1);
    }
    cr_expect(le(u64, same, 1));
}

Test(random_first, is_kept_by_sharing_and_taking_back)
{
    const haft_local_options options = {.capacity = 10, .random_first_generation = true};
    struct shared shared = open_shared(MEMB_CALLER, &short_lived);
    haft_local *local;
    haft_table *table;
    haft_id id;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    const uint64_t first = haft_id_generation(HAFT_LAYOUT_32_32, id);

    assert_status(haft_share(local, shared.domain, NULL, &table), HAFT_OK);
    haft_worker *worker = open_worker(table);

    cr_expect(eq(u64, haft_id_generation(HAFT_LAYOUT_32_32, insert(worker)), first));
    must(haft_worker_close(worker) == HAFT_OK);
    assert_status(haft_unshare(table, &local), HAFT_OK);
    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    cr_expect(eq(u64, haft_id_generation(HAFT_LAYOUT_32_32, id), first));
    haft_local_close(local);
    close_shared(&shared);
}

Test(random_first, shared_and_packed_tables_have_it_too)
{
    const haft_table_options options = {.capacity = 10, .random_first_generation = true};
    const haft_packed_options packed_options = {
        .capacity = 10, .object_size = 8, .random_first_generation = true};
    struct shared first = open_shared(MEMB_CALLER, &options);
    haft_table *second;
    haft_packed *packed;
    haft_id id;

    assert_status(haft_table_open(first.domain, &options, &second), HAFT_OK);
    haft_worker *worker = open_worker(second);

    cr_expect(ne(u64, insert(first.worker).bits, insert(worker).bits)); /* but one time in 2^31 */
    must(haft_worker_close(worker) == HAFT_OK);
    must(haft_table_close(second) == HAFT_OK);
    close_shared(&first);
    assert_status(haft_packed_open(&packed_options, &packed), HAFT_OK);
    assert_status(haft_packed_insert(packed, NULL, &id), HAFT_OK);
    cr_expect(lt(u64, 1, haft_id_generation(HAFT_LAYOUT_32_32, id))); /* but one time in 2^31 */
    haft_packed_close(packed);
}

Test(random_first, a_first_generation_given_as_well_is_refused)
{
    const haft_local_options options = {
        .capacity = 10, .first_generation = 1, .random_first_generation = true};
    haft_local *local = NULL;

    expect_status(haft_local_open(&options, &local), HAFT_BAD_FIRST_GENERATION);
    cr_expect(eq(ptr, local, NULL));
}

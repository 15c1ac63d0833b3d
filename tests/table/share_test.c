/* Handing a local table over to all threads, and back. */
#include "tests/table/level.h"
#include <haft/kit/restore.h>
#include <stdlib.h>

TestSuite(share, .timeout = SUITE_SECONDS);
TestSuite(share_restored, .timeout = SUITE_SECONDS);

TEST_ON_EACH_CLOCK(share, every_id_resolves_to_the_same_place_before_during_and_after)
{
    AT_END(close_level) struct level level = open_level(*setting, &level_options);
    const void *places[COUNT];

    fill(&level, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        places[i] = haft_resolve(level.view, level.ids[i]);
    }
    share_level(&level);
    expect_all(&level, level.view);
    expect_all(&level, haft_table_view(level.table));
    unshare_level(&level);
    expect_all(&level, haft_local_view(level.local));
    for (uint64_t i = 0; i < COUNT; i++) {
        must(haft_resolve(level.view, level.ids[i]) == places[i]);
    }
}

Test(share, with_a_reservation_open_is_refused_and_changes_nothing)
{
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &level_options);
    haft_table *const untouched = (haft_table *)(void *)&level;
    haft_table *table = untouched;
    haft_id id;

    fill(&level, 10);
    assert_status(haft_local_reserve(level.local, &id, NULL), HAFT_OK);
    expect_status(haft_share(level.local, level.domain, NULL, &table), HAFT_IN_USE);
    cr_expect(eq(ptr, table, untouched));
    haft_local_publish(level.local, id);
    cr_expect(eq(u64, haft_local_count(level.local), 11));
    expect_all(&level, level.view);
}

Test(share, while_it_is_being_loaded_is_refused)
{
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &level_options);
    haft_table *table = NULL;

    haft_local_load_begin(level.local);
    expect_status(haft_share(level.local, level.domain, NULL, &table), HAFT_LOADING);
    cr_expect(eq(ptr, table, NULL));
    haft_local_load_end(level.local);
    share_level(&level);
}

static void share_in_destructor(void *object, haft_id id, void *arg)
{
    struct level *level = arg;
    haft_table *table = NULL;

    expect_status(haft_share(level->local, level->domain, NULL, &table), HAFT_IN_USE);
    cr_expect(eq(ptr, table, NULL));
    level->count = 1;
}

Test(share, in_a_destructor_is_refused)
{
    static struct level level;
    haft_local_options with = level_options;

    with.on_destroy = share_in_destructor;
    with.destroy_arg = &level;
    level = open_level(MEMB_CALLER, &with);
    must(haft_local_free(level.local, local_insert(level.local, 0)) == HAFT_OK);
    cr_expect(eq(u64, level.count, 1));
    close_level(&level);
}

/* Every other object freed; the ids of those that live on come first. */
static void free_half(struct level *level, haft_id *stale)
{
    for (uint64_t i = 0; i < level->count; i++) {
        if (i % 2 == 1) {
            stale[i / 2] = level->ids[i];
            must(haft_local_free(level->local, level->ids[i]) == HAFT_OK);
        } else {
            ((struct object *)haft_resolve(level->view, level->ids[i]))->value = i / 2;
            level->ids[i / 2] = level->ids[i];
        }
    }
    level->count /= 2;
}

static void expect_stale(const struct level *level, const haft_id *stale, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        must(haft_resolve(level->view, stale[i]) == NULL);
    }
}

static void expect_free_slots_used(const haft_local_options *with)
{
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, with);
    haft_id stale[COUNT / 2];

    fill(&level, COUNT);
    free_half(&level, stale);
    share_level(&level);
    const uint64_t before = stats_of(level.table).high_water;

    cr_expect(eq(u64, stats_of(level.table).live, COUNT / 2));
    cr_expect(eq(u64, stats_of(level.table).free, before - COUNT / 2));
    fill_shared_level(&level, COUNT);
    expect_all(&level, level.view);
    expect_stale(&level, stale, COUNT / 2);
    cr_expect(eq(u64, stats_of(level.table).high_water, before), "free slots come first");
    cr_expect(eq(u64, stats_of(level.table).live, COUNT));
    for (uint64_t i = 0; i < level.count; i++) { /* all different */
        must(((struct object *)haft_resolve(level.view, level.ids[i]))->value == i);
    }
    unshare_level(&level);
    cr_expect(eq(u64, haft_local_count(level.local), COUNT));
    expect_stale(&level, stale, COUNT / 2);
}

Test(share, workers_use_the_free_slots_of_a_stack)
{
    expect_free_slots_used(&level_options);
}

Test(share, workers_use_the_free_slots_of_a_queue)
{
    haft_local_options with = level_options;

    with.reuse = HAFT_REUSE_FIFO;
    expect_free_slots_used(&with);
    with.min_free = 100;
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &with);
    haft_id stale[COUNT / 2];

    fill(&level, COUNT);
    free_half(&level, stale);
    share_level(&level);
    fill_shared_level(&level, COUNT);
    expect_all(&level, level.view);
    unshare_level(&level);
    expect_all(&level, level.view);
}

Test(share, every_layout)
{
    for (int n = 0; n < LAYOUTS; n++) {
        haft_local_options with = level_options;

        with.layout = layouts[n];
        with.capacity =
            layouts[n].index_bits < 10 ? (UINT64_C(1) << layouts[n].index_bits) - 4 : COUNT;
        AT_END(close_level) struct level level = open_level(MEMB_CALLER, &with);

        fill(&level, with.capacity);
        share_level(&level);
        expect_all(&level, level.view);
        haft_worker *worker = open_worker(level.table);
        haft_id id;

        if (stats_of(level.table).limit == with.capacity) {
            expect_status(haft_insert(worker, NULL, &id), HAFT_FULL);
        }
        must(haft_free(worker, level.ids[--level.count]) == HAFT_OK);
        must(haft_worker_close(worker) == HAFT_OK);
        unshare_level(&level);
        expect_all(&level, level.view);
        cr_expect(eq(u64, haft_local_count(level.local), level.count));
    }
}

Test(share, an_empty_table_and_a_full_one)
{
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &level_options);

    share_level(&level);
    cr_expect(eq(u64, stats_of(level.table).live, 0));
    cr_expect(eq(u64, stats_of(level.table).high_water, 0));
    fill_shared_level(&level, COUNT);
    unshare_level(&level);
    cr_expect(eq(u64, haft_local_available(level.local), 0));
    share_level(&level);
    cr_expect(eq(u64, stats_of(level.table).live, COUNT));
    expect_all(&level, level.view);
}

TEST_ON_EACH_CLOCK(share, slots_given_back_by_trim_are_used_and_ids_from_before_stay_stale)
{
    static haft_id stale[100000];
    const haft_local_options large = {.capacity = 100000, .object_size = sizeof(struct object)};
    AT_END(close_level) struct level level = open_level(*setting, &large);
    uint64_t given_back = 0;

    for (int i = 0; i < 100000; i++) {
        stale[i] = local_insert(level.local, 0);
    }
    for (int i = 0; i < 100000; i++) {
        must(haft_local_free(level.local, stale[i]) == HAFT_OK);
    }
    assert_status(haft_local_trim(level.local, &given_back), HAFT_OK);
    must(given_back > 1000000);
    fill(&level, 700); /* a fresh run is begun */
    share_level(&level);
    haft_worker *worker = open_worker(level.table);

    for (int i = 700; i < 100000; i++) {
        must(haft_id_generation(haft_table_info(level.table).layout, insert(worker)) == 2);
    }
    expect_stale(&level, stale, 100000);
    cr_expect(eq(u64, stats_of(level.table).live, 100000));
    cr_expect(eq(u64, stats_of(level.table).high_water, 100000), "none beyond them was needed");
    must(haft_worker_close(worker) == HAFT_OK);
    unshare_level(&level);
    expect_stale(&level, stale, 100000);
    expect_all(&level, level.view);
}

Test(share, there_is_room_for_what_workers_hold_back)
{
    haft_local_options power = level_options;

    power.capacity = 1020; /* with the marks a power of two */
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &power);

    share_level(&level);
    cr_expect(eq(u64, stats_of(level.table).capacity, 1020));
    cr_expect(eq(u64, stats_of(level.table).limit, 2040));
}

Test(share, without_will_share_the_capacity_fits_and_workers_hold_nothing_back)
{
    haft_local_options power = level_options;

    power.capacity = 1020;
    power.will_share = false;
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &power);
    haft_id id;

    fill(&level, 500);
    share_level(&level);
    cr_expect(eq(u64, stats_of(level.table).limit, 1020));
    haft_worker *first = open_worker(level.table);
    haft_worker *second = open_worker(level.table);

    for (int i = 0; i < 3000; i++) { /* what the one frees the other finds */
        must(haft_insert_wait(first, NULL, &id) == HAFT_OK);
        must(haft_free(first, id) == HAFT_OK);
        must(haft_insert_wait(second, NULL, &id) == HAFT_OK);
        must(haft_free(second, id) == HAFT_OK);
        must(haft_worker_quiescent(first) == HAFT_OK);
    }
    for (int i = 500; i < 1020; i++) {
        must(haft_insert_wait(i % 2 == 0 ? first : second, NULL, &id) == HAFT_OK);
    }
    expect_status(haft_insert(first, NULL, &id), HAFT_FULL);
    must(haft_worker_close(first) == HAFT_OK);
    must(haft_worker_close(second) == HAFT_OK);
    expect_all(&level, level.view);
}

Test(share, an_exhausted_slot_stays_exhausted)
{
    haft_local_options tiny = level_options;
    haft_table_stats stats;

    tiny.layout = HAFT_LAYOUT_OF(10, 1, 0); /* one life each */
    tiny.capacity = 100;
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &tiny);
    const haft_id gone = local_insert(level.local, 0);

    must(haft_local_free(level.local, gone) == HAFT_OK);
    share_level(&level);
    stats = stats_of(level.table);
    cr_expect(eq(u64, stats.exhausted, 1));
    expect_status(haft_diagnose(level.table, gone), HAFT_EXHAUSTED);
    haft_worker *worker = open_worker(level.table);
    const haft_id second = insert(worker);

    must(haft_free(worker, second) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    unshare_level(&level);
    expect_status(haft_local_diagnose(level.local, gone), HAFT_EXHAUSTED);
    expect_status(haft_local_diagnose(level.local, second), HAFT_EXHAUSTED);
    cr_expect(eq(u64, haft_local_available(level.local), 98));
}

/* --- callbacks --- */

static uint64_t destroyed[ROOM];

static void count_destroyed(void *object, haft_id id, void *arg)
{
    const struct object *dead = object;

    must(dead->id == id.bits);
    destroyed[dead->value]++;
}

static void expect_destroyed(uint64_t from, uint64_t to, uint64_t times)
{
    for (uint64_t i = from; i < to; i++) {
        must(destroyed[i] == times);
    }
}

static haft_local_options destroying(void)
{
    haft_local_options with = level_options;

    with.on_destroy = count_destroyed;
    return with;
}

TEST_ON_EACH_CLOCK(share, on_destroy_runs_once_for_what_is_freed_and_at_close_for_the_rest)
{
    const haft_local_options with = destroying();
    AT_END(close_level) struct level level = open_level(*setting, &with);

    fill(&level, 100);
    must(haft_local_free(level.local, level.ids[0]) == HAFT_OK);
    share_level(&level);
    haft_worker *worker = open_worker(level.table);

    for (uint64_t i = 1; i < 50; i++) {
        must(haft_free(worker, level.ids[i]) == HAFT_OK);
    }
    expect_destroyed(1, 100, 0);
    must(haft_worker_close(worker) == HAFT_OK);
    expect_status(haft_table_close(level.table), HAFT_OK);
    level.table = NULL;
    expect_destroyed(0, 100, 1);
}

Test(share, an_on_reclaim_of_its_own_takes_the_place_of_on_destroy)
{
    uint64_t reclaimed = 0;
    const haft_share_options own = {.on_reclaim = count_reclaimed, .reclaim_arg = &reclaimed};
    const haft_local_options with = destroying();
    struct level level = open_level(MEMB_CALLER, &with);

    fill(&level, 10);
    assert_status(haft_share(level.local, level.domain, &own, &level.table), HAFT_OK);
    level.local = NULL;
    haft_worker *worker = open_worker(level.table);

    must(haft_free(worker, level.ids[0]) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    unshare_level(&level);
    cr_expect(eq(u64, reclaimed, 1));
    expect_destroyed(0, 10, 0);
    must(haft_local_free(level.local, level.ids[1]) == HAFT_OK);
    cr_expect(eq(u64, reclaimed, 1));
    expect_destroyed(1, 2, 1);
    close_level(&level);
    expect_destroyed(1, 10, 1);
}

Test(share, options_without_on_reclaim_leave_on_destroy_in_its_place)
{
    const haft_share_options nothing = {.on_reclaim = NULL};
    const haft_local_options with = destroying();
    struct level level = open_level(MEMB_CALLER, &with);

    fill(&level, 10);
    assert_status(haft_share(level.local, level.domain, &nothing, &level.table), HAFT_OK);
    level.local = NULL;
    unshare_level(&level);
    close_level(&level);
    expect_destroyed(0, 10, 1);
}

/* --- ids restored into the local table --- */

#define RESTORED 100
#define GENERATION 70000

static haft_layout layout_of(const struct level *level)
{
    return haft_table_info(level->table).layout;
}

/* The highest generation that a slot has had, by index; more slots than the table has. */
static uint64_t latest[16 * COUNT];

static void note(const struct level *level, haft_id id)
{
    const uint64_t index = haft_id_index(layout_of(level), id);
    const uint64_t generation = haft_id_generation(layout_of(level), id);

    must(index < sizeof latest / sizeof latest[0]);
    must(generation == (latest[index] == 0 ? 1 : latest[index] + 1));
    latest[index] = generation;
}

/* Insert until no slot is left, whatever rings and depot it waits in. */
static void use_every_slot(const struct level *level, haft_worker *worker)
{
    haft_id id;

    while (haft_insert_wait(worker, NULL, &id) == HAFT_OK) {
        note(level, id);
    }
}

/* Workers use every slot again: the generation after the one that was restored comes next. */
TEST_ON_EACH_CLOCK(share_restored, workers_go_on_from_what_was_restored_before_sharing)
{
    AT_END(close_level) struct level level = open_level(*setting, &level_options);
    haft_id restored[RESTORED];
    haft_id id;

    for (uint64_t i = 0; i < RESTORED; i++) {
        restored[i] = haft_id_pack(haft_local_info(level.local).layout, HAFT_FIRST_INDEX + 3 * i,
                                   GENERATION + i, 0);
        must(haft_local_restore(level.local, restored[i], NULL) == HAFT_OK);
    }
    share_level(&level);
    haft_worker *worker = open_worker(level.table);

    for (uint64_t i = 0; i < RESTORED; i++) {
        must(haft_is_live(haft_table_view(level.table), restored[i]));
        latest[HAFT_FIRST_INDEX + 3 * i] = GENERATION + i;
        must(haft_free(worker, restored[i]) == HAFT_OK);
        must(haft_free(worker, restored[i]) == HAFT_STALE);
    }
    for (int n = 0; n < 20 * COUNT; n++) {
        must(haft_insert_wait(worker, NULL, &id) == HAFT_OK);
        note(&level, id);
        must(haft_free(worker, id) == HAFT_OK);
    }
    use_every_slot(&level, worker);
    for (uint64_t i = 0; i < RESTORED; i++) {
        must(latest[HAFT_FIRST_INDEX + 3 * i] > GENERATION + i); /* each was used */
        must(haft_diagnose(level.table, restored[i]) == HAFT_STALE);
    }
    must(haft_worker_close(worker) == HAFT_OK);
    unshare_level(&level);
}

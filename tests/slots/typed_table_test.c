/* Typed shared tables, workers and scans: each function does what the one that it calls does. */
#include "tests/slots/typed.h"
#include "tests/support.h"
#include <string.h>

static struct shared shared;
static ship_table ships;
static ship_worker worker;
static int bad_accesses;

static void count_bad_access(const haft_bad_access *access, void *arg)
{
    (void)access;
    ++*(int *)arg;
}

static void open_ships(void)
{
    const haft_table_options options = {.capacity = 100,
                                        .object_size = sizeof(struct ship),
                                        .on_bad_access = count_bad_access,
                                        .bad_access_arg = &bad_accesses};

    shared = open_shared(MEMB_CALLER, &options);
    assert_status(ship_table_adopt(shared.table, &ships), HAFT_OK);
    assert_status(ship_worker_adopt(shared.worker, &worker), HAFT_OK);
    haft_section_begin(shared.domain);
}

static void close_ships(void)
{
    haft_section_end(shared.domain);
    close_shared(&shared);
}

TestSuite(typed_table, .init = open_ships, .fini = close_ships, .timeout = SUITE_SECONDS);

static ship_id launch(uint64_t hull)
{
    const struct ship ship = {.hull = hull};
    ship_id id = ship_id_nil();

    assert_status(ship_insert(worker, &ship, &id), HAFT_OK);
    return id;
}

Test(typed_table, resolve_finds_what_was_inserted_until_it_is_freed)
{
    const ship_id id = launch(7);

    cr_expect(eq(u64, ship_resolve(ships.view, id)->hull, 7));
    expect_status(ship_diagnose(ships, id), HAFT_OK);
    expect_status(ship_free(worker, id), HAFT_OK);
    cr_expect(zero(ptr, ship_resolve(ships.view, id)));
    expect_status(ship_diagnose(ships, id), HAFT_STALE);
    expect_status(ship_free(worker, id), HAFT_STALE);
}

Test(typed_table, reserved_is_live_when_published)
{
    struct ship *ship = NULL;
    ship_id id, other;

    assert_status(ship_reserve(worker, &id, &ship), HAFT_OK);
    ship->hull = 7;
    cr_expect(zero(ptr, ship_resolve(ships.view, id)));
    expect_status(ship_diagnose(ships, id), HAFT_RESERVED);
    ship_publish(worker, id);
    cr_expect(eq(ptr, ship_resolve(ships.view, id), ship));
    assert_status(ship_reserve(worker, &other, NULL), HAFT_OK);
    ship_abort(worker, other);
    expect_status(ship_diagnose(ships, other), HAFT_STALE);
}

Test(typed_table, waiting_calls_give_what_the_others_give)
{
    const struct ship seven = {.hull = 7};
    struct ship *ship = NULL;
    ship_id id;

    haft_section_end(shared.domain);
    assert_status(ship_insert_wait(worker, &seven, &id), HAFT_OK);
    cr_expect(eq(u64, ship_resolve(ships.view, id)->hull, 7));
    assert_status(ship_reserve_wait(worker, &id, &ship), HAFT_OK);
    ship->hull = 8;
    ship_publish(worker, id);
    cr_expect(eq(ptr, ship_resolve(ships.view, id), ship));
    assert_status(ship_reserve_wait(worker, &id, NULL), HAFT_OK);
    ship_abort(worker, id);
    haft_section_begin(shared.domain);
}

Test(typed_table, what_a_full_table_is_asked_for_is_untouched)
{
    struct ship *const untouched = (struct ship *)(void *)&ships;
    const ship_id before = {{7}};
    struct ship *ship = untouched;
    ship_id id = before;
    ship_id other;

    while (ship_insert(worker, NULL, &other) == HAFT_OK) {
    }
    expect_status(ship_reserve(worker, &id, &ship), HAFT_FULL);
    expect_status(ship_insert(worker, NULL, &id), HAFT_FULL);
    expect_status(ship_reserve_wait(worker, &id, &ship), HAFT_FULL);
    expect_status(ship_insert_wait(worker, NULL, &id), HAFT_FULL);
    expect_status(ship_table_reserve(ships, &id, &ship), HAFT_FULL);
    cr_expect(ship_id_equal(id, before));
    cr_expect(eq(ptr, ship, untouched));
}

Test(typed_table, many_at_once_are_as_one_at_a_time)
{
    const struct ship two[] = {{.hull = 1}, {.hull = 2}};
    struct ship *objects[2] = {NULL, NULL};
    haft_status statuses[4];
    haft_status why = HAFT_FULL;
    ship_id ids[4];

    cr_expect(eq(sz, ship_insert_many(worker, two, ids, 2, &why), 2));
    expect_status(why, HAFT_OK);
    cr_expect(eq(sz, ship_reserve_many(worker, ids + 2, objects, 2, &why), 2));
    objects[0]->hull = 3;
    objects[1]->hull = 4;
    ship_publish_many(worker, ids + 2, 2);
    for (uint64_t i = 0; i < 4; i++) {
        cr_expect(eq(u64, ship_resolve(ships.view, ids[i])->hull, i + 1));
    }
    cr_expect(eq(sz, ship_free_many(worker, ids, 4, statuses), 4));
    cr_expect(zero(sz, ship_free_many(worker, ids, 4, statuses)));
    expect_status(statuses[3], HAFT_STALE);
}

Test(typed_table, cursor_visits_each_with_its_type)
{
    ship_cursor cursor = ship_cursor_over(ships, HAFT_EVERYTHING);
    struct ship *ship = NULL;
    uint64_t hulls = 0;
    ship_id id = ship_id_nil();

    cr_expect(not(ship_cursor_next(&cursor, &id, &ship)));
    cr_expect(zero(ptr, ship));
    launch(1);
    launch(20);
    cursor = ship_cursor_over(ships, HAFT_EVERYTHING);
    while (ship_cursor_next(&cursor, &id, &ship)) {
        cr_expect(eq(ptr, ship, ship_resolve(ships.view, id)));
        hulls += ship->hull;
    }
    cr_expect(eq(u64, hulls, 21));
    const ship_id last = id;
    struct ship *const last_ship = ship;

    cr_expect(not(ship_cursor_next(&cursor, &id, &ship)));
    cr_expect(ship_id_equal(id, last));
    cr_expect(eq(ptr, ship, last_ship));
}

static bool add_hull(ship_id id, struct ship *ship, void *arg)
{
    cr_expect(eq(ptr, ship, ship_resolve(ships.view, id)));
    *(uint64_t *)arg += ship->hull;
    return ship->hull != 20;
}

Test(typed_table, scan_visits_each_with_its_type_until_the_visitor_ends_it)
{
    uint64_t hulls = 0;

    launch(1);
    launch(20);
    launch(300);
    cr_expect(eq(u64, ship_scan(ships, HAFT_EVERYTHING, add_hull, &hulls), 2));
    cr_expect(eq(u64, hulls, 21));
}

Test(typed_table, without_a_worker_the_table_inserts_and_frees)
{
    const struct ship seven = {.hull = 7};
    struct ship *ship = NULL;
    ship_id id;

    assert_status(ship_table_insert(ships, &seven, &id), HAFT_OK);
    cr_expect(eq(u64, ship_resolve(ships.view, id)->hull, 7));
    expect_status(ship_table_free(ships, id), HAFT_OK);
    expect_status(ship_table_free(ships, id), HAFT_STALE);
    assert_status(ship_table_reserve(ships, &id, &ship), HAFT_OK);
    ship->hull = 8;
    ship_table_publish(ships, id);
    cr_expect(eq(ptr, ship_resolve(ships.view, id), ship));
    assert_status(ship_table_reserve(ships, &id, NULL), HAFT_OK);
    ship_table_abort(ships, id);
    expect_status(ship_diagnose(ships, id), HAFT_STALE);
}

Test(typed_table, require_gives_the_object_or_asks_the_policy)
{
    const ship_id id = launch(7);

    cr_expect(eq(ptr, ship_require(ships, id), ship_resolve(ships.view, id)));
    cr_expect(zero(int, bad_accesses));
    cr_expect(zero(ptr, ship_require(ships, ship_id_nil())));
    cr_expect(eq(int, bad_accesses, 1));
}

Test(typed_table, pins_hold_objects_of_the_type)
{
    pinned_aligned_16_table table = {0};
    pinned_aligned_16_worker mine = {0};
    pinned_aligned_16_id id;

    assert_status(
        pinned_aligned_16_table_open(shared.domain, &(haft_table_options){.capacity = 5}, &table),
        HAFT_OK);
    assert_status(pinned_aligned_16_worker_open(table, &mine), HAFT_OK);
    assert_status(pinned_aligned_16_insert(mine, NULL, &id), HAFT_OK);
    struct aligned_16 *object = pinned_aligned_16_pin(table, id);

    cr_expect(eq(ptr, object, pinned_aligned_16_resolve(table.view, id)));
    memset(object->bytes, 0xff, sizeof object->bytes);
    cr_expect(eq(u32, pinned_aligned_16_pins(table, id), 1));
    expect_status(pinned_aligned_16_unpin(table, id), HAFT_OK);
    expect_status(pinned_aligned_16_unpin(table, id), HAFT_NOT_PINNED);
    haft_section_end(shared.domain);
    expect_status(pinned_aligned_16_worker_close(mine), HAFT_OK);
    expect_status(pinned_aligned_16_table_close(table), HAFT_OK);
    haft_section_begin(shared.domain);
}

Test(typed_table, sharing_hands_a_local_table_over_and_back)
{
    const struct ship seven = {.hull = 7};
    const haft_local_options options = {.capacity = 5};
    ship_local local = {0};
    ship_table table = {0};
    ship_id id;

    haft_section_end(shared.domain);
    assert_status(ship_local_open(&options, &local), HAFT_OK);
    assert_status(ship_local_insert(local, &seven, &id), HAFT_OK);
    const struct ship *ship = ship_resolve(local.view, id);

    assert_status(ship_share(local, shared.domain, NULL, &table), HAFT_OK);
    cr_expect(eq(ptr, ship_resolve(table.view, id), (void *)ship));
    assert_status(ship_unshare(table, &local), HAFT_OK);
    cr_expect(eq(ptr, ship_resolve(local.view, id), (void *)ship));
    haft_local_load_begin(local.local);
    expect_status(ship_share(local, shared.domain, NULL, &table), HAFT_LOADING);
    haft_local_load_end(local.local);
    ship_local_close(local);
    haft_section_begin(shared.domain);
}

Test(typed_table, closing_with_an_open_worker_is_refused)
{
    ship_local local = {0};

    expect_status(ship_table_close(ships), HAFT_IN_USE);
    expect_status(ship_unshare(ships, &local), HAFT_IN_USE);
    cr_expect(zero(ptr, local.local));
}

/*
 * Typed ids, views, refs, tables, workers and scans: each function does what the one it calls does.
 */
#include "tests/slots/typed.h"
#include "tests/support.h"
#include <haft/kit/restore.h>
#include <string.h>

/* A table of each kind, and how often an id that is not live was required of them. */
static ship_local local;
static ship_packed packed;
static struct shared shared;
static ship_table ships;
static ship_worker worker;
static int bad_accesses;

static void count_bad_access(const haft_bad_access *access, void *arg)
{
    cr_expect(eq(int, access->status, HAFT_NO_ID));
    ++*(int *)arg;
}

static void open_all(void)
{
    const haft_local_options of_local = {
        .capacity = 100, .on_bad_access = count_bad_access, .report_arg = &bad_accesses};
    const haft_packed_options of_packed = {
        .capacity = 100, .on_bad_access = count_bad_access, .report_arg = &bad_accesses};
    const haft_table_options of_table = {.capacity = 100,
                                         .object_size = sizeof(struct ship),
                                         .object_alignment = _Alignof(struct ship),
                                         .on_bad_access = count_bad_access,
                                         .report_arg = &bad_accesses};

    assert_status(ship_local_open(&of_local, &local), HAFT_OK);
    assert_status(ship_packed_open(&of_packed, &packed), HAFT_OK);
    shared = open_shared(MEMB_CALLER, &of_table);
    assert_status(ship_table_adopt(shared.table, &ships), HAFT_OK);
    assert_status(ship_worker_adopt(shared.worker, &worker), HAFT_OK);
    haft_section_begin(shared.domain);
}

static void close_all(void)
{
    haft_section_end(shared.domain);
    close_shared(&shared);
    ship_packed_close(packed);
    ship_local_close(local);
}

TestSuite(typed, .timeout = SUITE_SECONDS);
TestSuite(typed_local, .init = open_all, .fini = close_all, .timeout = SUITE_SECONDS);
TestSuite(typed_packed, .init = open_all, .fini = close_all, .timeout = SUITE_SECONDS);
TestSuite(typed_table, .init = open_all, .fini = close_all, .timeout = SUITE_SECONDS);

/* Into which table. */
static ship_id launch_into(int kind, uint64_t hull)
{
    const struct ship ship = {.hull = hull};
    ship_id id = ship_id_nil();

    assert_status(kind == LOCAL   ? ship_local_insert(local, &ship, &id)
                  : kind == DENSE ? ship_packed_insert(packed, &ship, &id)
                                  : ship_insert(worker, &ship, &id),
                  HAFT_OK);
    return id;
}

/* --- ids --- */

Test(typed, an_id_comes_from_haft_id_and_goes_back)
{
    const haft_id id = {UINT64_C(0x123456789abcdef0)};

    cr_expect(haft_id_equal(ship_id_untyped(ship_id_of(id)), id));
    cr_expect(eq(sz, sizeof(ship_id), sizeof(haft_id)));
    cr_expect(eq(sz, sizeof(ship_ref), sizeof(haft_ref)));
}

Test(typed, zeroed_memory_is_a_nil_id)
{
    ship_id zeros;

    memset(&zeros, 0, sizeof zeros);
    cr_expect(ship_id_is_nil(zeros));
    cr_expect(ship_id_equal(zeros, ship_id_nil()));
    cr_expect(not(ship_id_is_nil(ship_id_of((haft_id){1}))));
}

Test(typed, ids_are_equal_when_all_bits_are)
{
    const haft_id id = {UINT64_C(0x123456789abcdef0)};

    cr_expect(ship_id_equal(ship_id_of(id), ship_id_of(id)));
    for (unsigned bit = 0; bit < 64; bit++) {
        const haft_id other = {id.bits ^ UINT64_C(1) << bit};

        cr_expect(not(ship_id_equal(ship_id_of(id), ship_id_of(other))));
    }
}

Test(typed, an_id_is_enough_for_an_allocator_of_ids_alone)
{
    torpedo_id id;
    AT_END(local_end) haft_local *ids = local_open(&(haft_local_options){.capacity = 5});

    assert_status(haft_local_insert(ids, NULL, &id.id), HAFT_OK);
    cr_expect(haft_is_live(haft_local_view(ids), torpedo_id_untyped(id)));
}

/* --- views and refs --- */

Test(typed_local, resolve_answers_as_haft_resolve_for_forged_ids)
{
    const haft_view view = haft_local_view(local.local);
    const haft_dense_view packed_view = haft_packed_view(packed.packed);
    uint64_t state = 1;
    uint64_t live[64];

    for (int i = 0; i < 64; i++) {
        live[i] = launch_into(LOCAL, (uint64_t)i).id.bits;
        must(launch_into(DENSE, (uint64_t)i).id.bits == live[i]);
    }
    for (int i = 0; i < 1000000; i++) {
        const uint64_t random = random_next(&state);
        const haft_id id = {i < 64       ? live[i]
                            : i % 2 == 0 ? random
                                         : live[i % 64] ^ UINT64_C(1) << random % 64};
        const void *found = haft_resolve(view, id);

        must(ship_resolve(local.view, ship_id_of(id)) == found);
        must(ship_is_live(local.view, ship_id_of(id)) == (found != NULL));
        must(ship_id_is_nil(ship_ref_id(ship_ref_of(local.view, ship_id_of(id)))) ==
             (found == NULL));
        found = haft_packed_resolve(packed_view, id);
        must(ship_packed_resolve(packed.view, ship_id_of(id)) == found);
        must(ship_packed_is_live(packed.view, ship_id_of(id)) == (found != NULL));
    }
}

Test(typed_local, resolve_many_is_resolve_of_each)
{
    const ship_id ids[] = {launch_into(LOCAL, 1), ship_id_nil(), launch_into(LOCAL, 2)};
    struct ship *found[3];

    cr_expect(eq(sz, ship_resolve_many(local.view, ids, found, 3), 2));
    for (int i = 0; i < 3; i++) {
        cr_expect(eq(ptr, found[i], ship_resolve(local.view, ids[i])));
    }
    cr_expect(zero(sz, ship_resolve_many(local.view, ids, found, 0)));
}

Test(typed_local, a_ref_leads_to_its_object_until_it_is_freed)
{
    const ship_id id = launch_into(LOCAL, 7);
    const ship_ref ref = ship_ref_of(local.view, id);

    cr_expect(eq(ptr, ship_ref_get(ref), ship_resolve(local.view, id)));
    cr_expect(ship_ref_is_live(ref));
    cr_expect(ship_id_equal(ship_ref_id(ref), id));
    expect_status(ship_local_free(local, id), HAFT_OK);
    cr_expect(zero(ptr, ship_ref_get(ref)));
    cr_expect(not(ship_ref_is_live(ref)));
    cr_expect(ship_id_is_nil(ship_ref_id(ship_ref_of(local.view, id))));
}

/* --- local tables --- */

Test(typed_local, lives_from_insert_or_publish_until_it_is_freed)
{
    const struct ship zeros = {0};
    const ship_id id = launch_into(LOCAL, 7);
    struct ship *ship = NULL;
    ship_id other;

    cr_assert(not(zero(ptr, ship_resolve(local.view, id))));
    cr_expect(eq(u64, ship_resolve(local.view, id)->hull, 7));
    expect_status(ship_local_free(local, id), HAFT_OK);
    expect_status(ship_local_free(local, id), HAFT_STALE);
    expect_status(ship_local_diagnose(local, id), HAFT_STALE);
    assert_status(ship_local_insert(local, NULL, &other), HAFT_OK);
    cr_expect(zero(int, memcmp(ship_resolve(local.view, other), &zeros, sizeof zeros)));
    assert_status(ship_local_reserve(local, &other, &ship), HAFT_OK);
    ship->hull = 8;
    cr_expect(zero(ptr, ship_resolve(local.view, other)));
    expect_status(ship_local_diagnose(local, other), HAFT_RESERVED);
    ship_local_publish(local, other);
    cr_expect(eq(ptr, ship_resolve(local.view, other), ship));
    assert_status(ship_local_reserve(local, &other, NULL), HAFT_OK);
    ship_local_abort(local, other);
    expect_status(ship_local_diagnose(local, other), HAFT_STALE);
}

struct seen {
    uint64_t hulls;
    uint64_t free_slots;
    int left; /* visits until it ends */
};

static bool see(ship_id id, struct ship *ship, void *arg)
{
    struct seen *seen = arg;

    if (ship == NULL) {
        seen->free_slots++;
    } else {
        cr_expect(eq(ptr, ship, ship_resolve(local.view, id)));
        seen->hulls += ship->hull;
    }
    return --seen->left != 0;
}

Test(typed_local, for_each_visits_each_with_its_type)
{
    struct seen all = {0};
    struct seen two = {.left = 2};
    struct seen slots = {0};

    launch_into(LOCAL, 1);
    const ship_id twenty = launch_into(LOCAL, 20);

    launch_into(LOCAL, 300);
    cr_expect(eq(u64, ship_local_for_each(local, see, &all), 3));
    cr_expect(eq(u64, all.hulls, 321));
    cr_expect(eq(u64, ship_local_for_each(local, see, &two), 2));
    cr_expect(eq(u64, two.hulls, 21));
    assert_status(ship_local_free(local, twenty), HAFT_OK);
    cr_expect(eq(u64, ship_local_for_each_slot(local, see, &slots), 3));
    cr_expect(eq(u64, slots.hulls, 301));
    cr_expect(eq(u64, slots.free_slots, 1));
}

Test(typed_local, restore_brings_an_object_under_its_id)
{
    const struct ship ship = {.hull = 7};
    const ship_id id = ship_id_of(haft_id_pack(HAFT_LAYOUT_32_32, 17, 3, 0));
    const ship_id next = ship_id_of(haft_id_pack(HAFT_LAYOUT_32_32, 18, 5, 0));

    expect_status(ship_local_restore(local, id, &ship), HAFT_OK);
    cr_expect(eq(u64, ship_resolve(local.view, id)->hull, 7));
    expect_status(ship_local_restore(local, id, &ship), HAFT_OCCUPIED);
    expect_status(ship_local_restore_free(local, next), HAFT_OK);
    cr_expect(not(ship_is_live(local.view, next)));
    cr_expect(eq(u64, launch_into(LOCAL, 1).id.bits, next.id.bits));
}

Test(typed_local, reserve_at_gives_the_place_of_an_object_under_its_id)
{
    const ship_id id = ship_id_of(haft_id_pack(HAFT_LAYOUT_32_32, 17, 3, 0));
    struct ship *ship = NULL;

    expect_status(ship_local_reserve_at(local, id, &ship), HAFT_OK);
    cr_expect(not(ship_is_live(local.view, id)));
    ship->hull = 7;
    ship_local_publish(local, id);
    cr_expect(eq(ptr, ship_resolve(local.view, id), ship));
    expect_status(ship_local_reserve_at(local, id, &ship), HAFT_OCCUPIED);
}

/* --- each kind --- */

Test(typed_table, what_a_full_table_is_asked_for_is_untouched)
{
    struct ship *const untouched = (struct ship *)(void *)&ships;
    const ship_id before = {{7}};
    struct ship *ship = untouched;
    ship_id id = before;
    ship_id other;

    for (int i = 0; i < 100; i++) {
        launch_into(LOCAL, 1);
        launch_into(DENSE, 1);
    }
    while (ship_insert(worker, NULL, &other) == HAFT_OK) {
        /* until it is full */
    }
    expect_status(ship_local_reserve(local, &id, &ship), HAFT_FULL);
    expect_status(ship_local_insert(local, NULL, &id), HAFT_FULL);
    expect_status(ship_packed_insert(packed, NULL, &id), HAFT_FULL);
    expect_status(ship_reserve(worker, &id, &ship), HAFT_FULL);
    expect_status(ship_insert(worker, NULL, &id), HAFT_FULL);
    expect_status(ship_reserve_wait(worker, &id, &ship), HAFT_FULL);
    expect_status(ship_insert_wait(worker, NULL, &id), HAFT_FULL);
    cr_expect(ship_id_equal(id, before));
    cr_expect(eq(ptr, ship, untouched));
}

Test(typed_table, require_gives_the_object_or_asks_the_policy)
{
    const ship_id in_local = launch_into(LOCAL, 7);
    const ship_id in_packed = launch_into(DENSE, 7);
    const ship_id in_shared = launch_into(SHARED, 7);

    cr_expect(eq(ptr, ship_local_require(local, in_local), ship_resolve(local.view, in_local)));
    cr_expect(eq(ptr, ship_packed_require(packed, in_packed), packed.view.objects));
    cr_expect(eq(ptr, ship_require(ships, in_shared), ship_resolve(ships.view, in_shared)));
    cr_expect(zero(int, bad_accesses));
    cr_expect(zero(ptr, ship_local_require(local, ship_id_nil())));
    cr_expect(zero(ptr, ship_packed_require(packed, ship_id_nil())));
    cr_expect(zero(ptr, ship_require(ships, ship_id_nil())));
    cr_expect(eq(int, bad_accesses, 3));
}

/* --- packed tables --- */

Test(typed_packed, objects_and_ids_are_arrays_of_their_types)
{
    const ship_id ids[] = {launch_into(DENSE, 1), launch_into(DENSE, 2)};

    cr_expect(eq(ptr, ship_packed_objects(packed), haft_packed_objects(packed.packed)));
    cr_expect(eq(ptr, ship_packed_objects(packed), packed.view.objects));
    for (uint64_t i = 0; i < 2; i++) {
        cr_expect(eq(u64, packed.view.objects[i].hull, i + 1));
        cr_expect(ship_id_equal(ship_packed_ids(packed)[i], ids[i]));
        cr_expect(ship_id_equal(ship_packed_id_in(packed, i), ids[i]));
    }
    cr_expect(ship_id_is_nil(ship_packed_id_in(packed, 2)));
}

Test(typed_packed, ids_are_found_by_index_in_each_table)
{
    const ship_id ids[] = {launch_into(LOCAL, 1), launch_into(DENSE, 2), launch_into(SHARED, 3)};
    ship_id found;

    expect_status(ship_local_id_at(local, HAFT_FIRST_INDEX, &found), HAFT_OK);
    cr_expect(ship_id_equal(found, ids[0]));
    expect_status(ship_packed_id_at(packed, HAFT_FIRST_INDEX, &found), HAFT_OK);
    cr_expect(ship_id_equal(found, ids[1]));
    expect_status(ship_id_at(ships, haft_id_index(HAFT_LAYOUT_32_32, ids[2].id), &found), HAFT_OK);
    cr_expect(ship_id_equal(found, ids[2]));
}

Test(typed_packed, resolve_follows_objects_that_move)
{
    const ship_id first = launch_into(DENSE, 1);
    const ship_id last = launch_into(DENSE, 2);
    uint64_t position = 7;
    ship_id zeros;

    cr_expect(eq(u64, ship_packed_resolve(packed.view, last)->hull, 2));
    expect_status(ship_packed_position(packed, last, &position), HAFT_OK);
    cr_expect(eq(u64, position, 1));
    expect_status(ship_packed_free(packed, first), HAFT_OK);
    cr_expect(eq(ptr, ship_packed_resolve(packed.view, last), packed.view.objects));
    expect_status(ship_packed_position(packed, last, &position), HAFT_OK);
    cr_expect(zero(u64, position));
    cr_expect(ship_packed_is_live(packed.view, last));
    expect_status(ship_packed_diagnose(packed, first), HAFT_STALE);
    expect_status(ship_packed_free(packed, first), HAFT_STALE);
    expect_status(ship_packed_position(packed, first, &position), HAFT_STALE);
    assert_status(ship_packed_insert(packed, NULL, &zeros), HAFT_OK);
    cr_expect(zero(u64, ship_packed_resolve(packed.view, zeros)->hull));
}

Test(typed_packed, killed_is_dead_until_the_refresh)
{
    const ship_id id = launch_into(DENSE, 1);

    cr_expect(eq(int, ship_packed_state(packed, id), HAFT_PACKED_ALIVE));
    expect_status(ship_packed_kill(packed, id), HAFT_OK);
    expect_status(ship_packed_kill(packed, id), HAFT_DEAD);
    cr_expect(eq(int, ship_packed_state(packed, id), HAFT_PACKED_DEAD));
    assert_status(haft_packed_refresh(packed.packed), HAFT_OK);
    cr_expect(eq(int, ship_packed_state(packed, id), HAFT_PACKED_UNUSED));
}

static int weaker_first(const struct ship *a, const struct ship *b, void *arg)
{
    ++*(int *)arg;
    return (a->hull > b->hull) - (a->hull < b->hull);
}

Test(typed_packed, sort_compares_objects_of_the_type)
{
    int calls = 0;
    const ship_id second = launch_into(DENSE, 2);

    launch_into(DENSE, 1);
    expect_status(ship_packed_sort(packed, weaker_first, &calls), HAFT_OK);
    cr_expect(eq(u64, packed.view.objects[0].hull, 1));
    cr_expect(lt(int, 0, calls));
    cr_expect(eq(ptr, ship_packed_resolve(packed.view, second), &packed.view.objects[1]));
}

Test(typed_packed, objects_are_brought_into_an_order_by_their_ids)
{
    int calls = 0;
    const ship_id ids[] = {launch_into(DENSE, 3), launch_into(DENSE, 2), launch_into(DENSE, 1)};

    expect_status(ship_packed_sort_n(packed, 2, weaker_first, &calls), HAFT_OK);
    cr_expect(eq(int, calls, 2)); /* each merge looks first */
    cr_expect(eq(u64, packed.view.objects[0].hull, 2));
    expect_status(ship_packed_sort_as(packed, ids, 3), HAFT_OK);
    cr_expect(eq(u64, packed.view.objects[0].hull, 3));
    expect_status(ship_packed_swap(packed, ids[0], ids[2]), HAFT_OK);
    cr_expect(eq(u64, packed.view.objects[0].hull, 1));
    cr_expect(eq(ptr, ship_packed_resolve(packed.view, ids[0]), &packed.view.objects[2]));
}

/* --- shared tables --- */

Test(typed_table, lives_from_insert_or_publish_until_it_is_freed)
{
    const ship_id id = launch_into(SHARED, 7);
    struct ship *ship = NULL;
    ship_id other;

    cr_expect(eq(u64, ship_resolve(ships.view, id)->hull, 7));
    expect_status(ship_diagnose(ships, id), HAFT_OK);
    expect_status(ship_free(worker, id), HAFT_OK);
    expect_status(ship_free(worker, id), HAFT_STALE);
    expect_status(ship_diagnose(ships, id), HAFT_STALE);
    assert_status(ship_reserve(worker, &other, &ship), HAFT_OK);
    ship->hull = 7;
    cr_expect(zero(ptr, ship_resolve(ships.view, other)));
    expect_status(ship_diagnose(ships, other), HAFT_RESERVED);
    ship_publish(worker, other);
    cr_expect(eq(ptr, ship_resolve(ships.view, other), ship));
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
    ship_publish(worker, id);
    cr_expect(eq(ptr, ship_resolve(ships.view, id), ship));
    assert_status(ship_reserve_wait(worker, &id, NULL), HAFT_OK);
    ship_abort(worker, id);
    haft_section_begin(shared.domain);
}

Test(typed_table, many_at_once_are_as_one_at_a_time)
{
    const struct ship four[] = {{.hull = 1}, {.hull = 2}, {.hull = 3}, {.hull = 4}};
    haft_status statuses[4];
    haft_status why = HAFT_FULL;
    ship_id ids[4];

    cr_expect(eq(sz, ship_insert_many(worker, four, ids, 4, &why), 4));
    expect_status(why, HAFT_OK);
    for (uint64_t i = 0; i < 4; i++) {
        cr_expect(eq(u64, ship_resolve(ships.view, ids[i])->hull, i + 1));
    }
    cr_expect(eq(sz, ship_free_many(worker, ids, 4, statuses), 4));
    cr_expect(zero(sz, ship_free_many(worker, ids, 4, statuses)));
    expect_status(statuses[3], HAFT_STALE);
}

static bool add_hull(ship_id id, struct ship *ship, void *arg)
{
    cr_expect(eq(ptr, ship, ship_resolve(ships.view, id)));
    *(uint64_t *)arg += ship->hull;
    return ship->hull != 20;
}

Test(typed_table, cursor_and_scan_visit_each_with_its_type)
{
    ship_cursor cursor = ship_cursor_over(ships, HAFT_EVERYTHING);
    struct ship *ship = NULL;
    uint64_t hulls = 0;
    ship_id id = ship_id_nil();

    cr_expect(not(ship_cursor_next(&cursor, &id, &ship)));
    cr_expect(zero(ptr, ship));
    launch_into(SHARED, 1);
    const ship_id last = launch_into(SHARED, 20);

    cursor = ship_cursor_over(ships, HAFT_EVERYTHING);
    while (ship_cursor_next(&cursor, &id, &ship)) {
        hulls += ship->hull;
    }
    cr_expect(eq(u64, hulls, 21));
    cr_expect(ship_id_equal(id, last));
    cr_expect(eq(ptr, ship, ship_resolve(ships.view, last)));
    launch_into(SHARED, 300);
    hulls = 0;
    cr_expect(eq(u64, ship_scan(ships, HAFT_EVERYTHING, add_hull, &hulls), 2));
    cr_expect(eq(u64, hulls, 21));
}

Test(typed_table, without_a_worker_the_table_frees)
{
    const ship_id id = launch_into(SHARED, 7);

    expect_status(ship_table_free(ships, id), HAFT_OK);
    expect_status(ship_table_free(ships, id), HAFT_STALE);
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
    expect_status(pinned_aligned_16_table_clear(table), HAFT_OK);
    cr_expect(eq(ptr, pinned_aligned_16_resolve(table.view, id), NULL));
    expect_status(pinned_aligned_16_table_close(table), HAFT_OK);
    haft_section_begin(shared.domain);
}

Test(typed_table, sharing_hands_a_local_table_over_and_back)
{
    ship_table table = {0};
    const ship_id id = launch_into(LOCAL, 7);
    struct ship *const ship = ship_resolve(local.view, id);

    expect_status(ship_table_close(ships), HAFT_IN_USE);
    expect_status(ship_unshare(ships, &local), HAFT_IN_USE);
    haft_section_end(shared.domain);
    assert_status(ship_share(local, shared.domain, NULL, &table), HAFT_OK);
    cr_expect(eq(ptr, ship_resolve(table.view, id), ship));
    assert_status(ship_unshare(table, &local), HAFT_OK);
    cr_expect(eq(ptr, ship_resolve(local.view, id), ship));
    haft_local_load_begin(local.local);
    expect_status(ship_share(local, shared.domain, NULL, &table), HAFT_LOADING);
    haft_local_load_end(local.local);
    haft_section_begin(shared.domain);
}

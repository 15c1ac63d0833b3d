/* Typed packed tables: each function does what the one that it calls does. */
#include "tests/slots/typed.h"
#include "tests/support.h"

static ship_packed ships;
static int bad_accesses;

static void count_bad_access(const haft_bad_access *access, void *arg)
{
    (void)access;
    ++*(int *)arg;
}

static void open_ships(void)
{
    const haft_packed_options options = {
        .capacity = 10, .on_bad_access = count_bad_access, .bad_access_arg = &bad_accesses};

    assert_status(ship_packed_open(&options, &ships), HAFT_OK);
}

static void close_ships(void)
{
    ship_packed_close(ships);
}

TestSuite(typed_packed, .init = open_ships, .fini = close_ships, .timeout = SUITE_SECONDS);

static ship_id launch(uint64_t hull)
{
    const struct ship ship = {.hull = hull};
    ship_id id = ship_id_nil();

    assert_status(ship_packed_insert(ships, &ship, &id), HAFT_OK);
    return id;
}

Test(typed_packed, objects_and_ids_are_arrays_of_their_types)
{
    const ship_id ids[] = {launch(1), launch(2), launch(3)};

    cr_expect(eq(ptr, ship_packed_objects(ships), haft_packed_objects(ships.packed)));
    cr_expect(eq(ptr, ship_packed_objects(ships), ships.view.objects));
    for (uint64_t i = 0; i < haft_packed_count(ships.packed); i++) {
        cr_expect(eq(u64, ships.view.objects[i].hull, i + 1));
        cr_expect(ship_id_equal(ship_packed_ids(ships)[i], ids[i]));
        cr_expect(ship_id_equal(ship_packed_id_at(ships, i), ids[i]));
    }
    cr_expect(ship_id_is_nil(ship_packed_id_at(ships, 3)));
}

Test(typed_packed, resolve_follows_objects_that_move)
{
    const ship_id first = launch(1);
    const ship_id last = launch(2);
    uint64_t position = 7;

    cr_expect(eq(u64, ship_packed_resolve(ships.view, last)->hull, 2));
    expect_status(ship_packed_position(ships, last, &position), HAFT_OK);
    cr_expect(eq(u64, position, 1));
    expect_status(ship_packed_free(ships, first), HAFT_OK);
    cr_expect(eq(ptr, ship_packed_resolve(ships.view, last), ships.view.objects));
    expect_status(ship_packed_position(ships, last, &position), HAFT_OK);
    cr_expect(zero(u64, position));
    cr_expect(zero(ptr, ship_packed_resolve(ships.view, first)));
    cr_expect(not(ship_packed_is_live(ships.view, first)));
    cr_expect(ship_packed_is_live(ships.view, last));
    expect_status(ship_packed_diagnose(ships, first), HAFT_STALE);
    expect_status(ship_packed_free(ships, first), HAFT_STALE);
    expect_status(ship_packed_position(ships, first, &position), HAFT_STALE);
}

Test(typed_packed, resolve_answers_as_haft_packed_resolve_for_forged_ids)
{
    const haft_dense_view view = haft_packed_view(ships.packed);
    uint64_t state = 1;
    uint64_t live[8];

    for (int i = 0; i < 8; i++) {
        live[i] = launch((uint64_t)i).id.bits;
    }
    for (int i = 0; i < 1000000; i++) {
        const uint64_t random = random_next(&state);
        const haft_id id = {i % 2 == 0 ? random : live[i % 8] ^ UINT64_C(1) << random % 64};

        must(ship_packed_resolve(ships.view, ship_id_of(id)) == haft_packed_resolve(view, id));
        must(ship_packed_is_live(ships.view, ship_id_of(id)) == haft_packed_is_live(view, id));
    }
    for (int i = 0; i < 8; i++) {
        const haft_id id = {live[i]};

        cr_expect(eq(ptr, ship_packed_resolve(ships.view, ship_id_of(id)),
                     haft_packed_resolve(view, id)));
    }
}

Test(typed_packed, killed_is_dead_until_the_refresh)
{
    const ship_id id = launch(1);

    cr_expect(eq(int, ship_packed_state(ships, id), HAFT_PACKED_ALIVE));
    expect_status(ship_packed_kill(ships, id), HAFT_OK);
    expect_status(ship_packed_kill(ships, id), HAFT_DEAD);
    cr_expect(eq(int, ship_packed_state(ships, id), HAFT_PACKED_DEAD));
    assert_status(haft_packed_refresh(ships.packed), HAFT_OK);
    cr_expect(eq(int, ship_packed_state(ships, id), HAFT_PACKED_UNUSED));
}

static int weaker_first(const struct ship *a, const struct ship *b, void *arg)
{
    ++*(int *)arg;
    return (a->hull > b->hull) - (a->hull < b->hull);
}

Test(typed_packed, sort_compares_objects_of_the_type)
{
    int calls = 0;
    const ship_id third = launch(3);

    launch(1);
    launch(2);
    expect_status(ship_packed_sort(ships, weaker_first, &calls), HAFT_OK);
    for (uint64_t i = 0; i < 3; i++) {
        cr_expect(eq(u64, ships.view.objects[i].hull, i + 1));
    }
    cr_expect(gt(int, calls, 0));
    cr_expect(eq(ptr, ship_packed_resolve(ships.view, third), &ships.view.objects[2]));
}

Test(typed_packed, insert_of_null_is_zeros_and_a_full_table_is_full)
{
    ship_id id;

    assert_status(ship_packed_insert(ships, NULL, &id), HAFT_OK);
    cr_expect(zero(u64, ship_packed_resolve(ships.view, id)->hull));
    for (int i = 0; i < 9; i++) {
        launch(1);
    }
    expect_status(ship_packed_insert(ships, NULL, &id), HAFT_FULL);
}

Test(typed_packed, require_gives_the_object_or_asks_the_policy)
{
    const ship_id id = launch(7);

    cr_expect(eq(ptr, ship_packed_require(ships, id), ships.view.objects));
    cr_expect(zero(int, bad_accesses));
    cr_expect(zero(ptr, ship_packed_require(ships, ship_id_nil())));
    cr_expect(eq(int, bad_accesses, 1));
}

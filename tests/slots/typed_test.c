/* Typed ids, views, refs and local tables: each function does what the one that it calls does. */
#include "tests/slots/typed.h"
#include "tests/support.h"
#include <string.h>

TestSuite(typed, .timeout = SUITE_SECONDS);

static ship_local ships;

static void open_ships(void)
{
    const haft_local_options options = {.name = "ships", .capacity = 100};

    assert_status(ship_local_open(&options, &ships), HAFT_OK);
}

static void close_ships(void)
{
    ship_local_close(ships);
}

TestSuite(typed_local, .init = open_ships, .fini = close_ships, .timeout = SUITE_SECONDS);

static ship_id launch(uint64_t hull)
{
    const struct ship ship = {.hull = hull};
    ship_id id = ship_id_nil();

    assert_status(ship_local_insert(ships, &ship, &id), HAFT_OK);
    return id;
}

/* --- ids --- */

Test(typed, an_id_comes_from_haft_id_and_goes_back)
{
    const haft_id id = {UINT64_C(0x123456789abcdef0)};

    cr_expect(haft_id_equal(ship_id_untyped(ship_id_of(id)), id));
    cr_expect(eq(sz, sizeof(ship_id), sizeof(haft_id)));
}

Test(typed, zeroed_memory_is_a_nil_id)
{
    ship_id zeros;

    memset(&zeros, 0, sizeof zeros);
    cr_expect(ship_id_is_nil(zeros));
    cr_expect(ship_id_is_nil(ship_id_nil()));
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

/* --- views and refs --- */

Test(typed_local, resolve_finds_what_was_inserted_until_it_is_freed)
{
    const ship_id id = launch(7);
    struct ship *ship = ship_resolve(ships.view, id);

    cr_assert(not(zero(ptr, ship)));
    cr_expect(eq(ptr, ship, haft_resolve(haft_local_view(ships.local), ship_id_untyped(id))));
    cr_expect(eq(u64, ship->hull, 7));
    cr_expect(ship_is_live(ships.view, id));
    expect_status(ship_local_free(ships, id), HAFT_OK);
    cr_expect(zero(ptr, ship_resolve(ships.view, id)));
    cr_expect(not(ship_is_live(ships.view, id)));
}

Test(typed_local, resolve_answers_as_haft_resolve_for_forged_ids)
{
    const haft_view view = haft_local_view(ships.local);
    uint64_t state = 1;
    uint64_t live[64];

    for (int i = 0; i < 64; i++) {
        live[i] = launch((uint64_t)i).id.bits;
    }
    for (int i = 0; i < 1000000; i++) {
        const uint64_t random = random_next(&state);
        const haft_id id = {i % 2 == 0 ? random : live[i % 64] ^ UINT64_C(1) << random % 64};
        const void *found = haft_resolve(view, id);

        must(ship_resolve(ships.view, ship_id_of(id)) == found);
        must(ship_is_live(ships.view, ship_id_of(id)) == (found != NULL));
        must(ship_ref_is_nil(ship_ref_of(ships.view, ship_id_of(id))) == (found == NULL));
    }
}

Test(typed_local, resolve_many_is_resolve_of_each)
{
    const ship_id ids[] = {launch(1), ship_id_nil(), launch(2), launch(3)};
    struct ship *found[4];

    cr_expect(eq(sz, ship_resolve_many(ships.view, ids, found, 4), 3));
    for (int i = 0; i < 4; i++) {
        cr_expect(eq(ptr, found[i], ship_resolve(ships.view, ids[i])));
    }
    cr_expect(zero(sz, ship_resolve_many(ships.view, ids, found, 0)));
}

Test(typed_local, a_ref_leads_to_its_object_until_it_is_freed)
{
    const ship_id id = launch(7);
    const ship_ref ref = ship_ref_of(ships.view, id);

    cr_expect(eq(ptr, ship_ref_get(ref), ship_resolve(ships.view, id)));
    cr_expect(ship_ref_is_live(ref));
    cr_expect(not(ship_ref_is_nil(ref)));
    cr_expect(ship_id_equal(ship_ref_id(ref), id));
    cr_expect(ship_ref_equal(ref, ship_ref_of(ships.view, id)));
    cr_expect(not(ship_ref_equal(ref, ship_ref_of(ships.view, launch(8)))));
    expect_status(ship_local_free(ships, id), HAFT_OK);
    cr_expect(zero(ptr, ship_ref_get(ref)));
    cr_expect(not(ship_ref_is_live(ref)));
    cr_expect(ship_ref_is_nil(ship_ref_of(ships.view, id)));
    cr_expect(eq(sz, sizeof(ship_ref), sizeof(haft_ref)));
}

/* --- local tables --- */

Test(typed_local, reserved_is_live_when_published)
{
    struct ship *ship = NULL;
    ship_id id;

    assert_status(ship_local_reserve(ships, &id, &ship), HAFT_OK);
    cr_assert(not(zero(ptr, ship)));
    ship->hull = 7;
    cr_expect(zero(ptr, ship_resolve(ships.view, id)));
    expect_status(ship_local_diagnose(ships, id), HAFT_RESERVED);
    ship_local_publish(ships, id);
    cr_expect(eq(ptr, ship_resolve(ships.view, id), ship));
    cr_expect(eq(u64, ship->hull, 7));
}

Test(typed_local, reserve_may_be_asked_for_the_id_alone)
{
    ship_id id;

    assert_status(ship_local_reserve(ships, &id, NULL), HAFT_OK);
    ship_local_abort(ships, id);
    expect_status(ship_local_diagnose(ships, id), HAFT_STALE);
}

Test(typed_local, what_a_full_table_is_asked_for_is_untouched)
{
    struct ship *const untouched = (struct ship *)(void *)&ships;
    const ship_id before = {{7}};
    struct ship *ship = untouched;
    ship_id id = before;

    for (int i = 0; i < 100; i++) {
        launch(1);
    }
    expect_status(ship_local_reserve(ships, &id, &ship), HAFT_FULL);
    expect_status(ship_local_insert(ships, NULL, &id), HAFT_FULL);
    cr_expect(ship_id_equal(id, before));
    cr_expect(eq(ptr, ship, untouched));
}

Test(typed_local, insert_of_null_is_zeros)
{
    const struct ship zeros = {0};
    ship_id id;

    assert_status(ship_local_insert(ships, NULL, &id), HAFT_OK);
    cr_expect(zero(int, memcmp(ship_resolve(ships.view, id), &zeros, sizeof zeros)));
}

Test(typed_local, a_second_free_is_stale)
{
    const ship_id id = launch(7);

    expect_status(ship_local_free(ships, id), HAFT_OK);
    expect_status(ship_local_free(ships, id), HAFT_STALE);
    expect_status(ship_local_diagnose(ships, id), HAFT_STALE);
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
        cr_expect(eq(ptr, ship, ship_resolve(ships.view, id)));
        seen->hulls += ship->hull;
    }
    return --seen->left != 0;
}

Test(typed_local, for_each_visits_each_with_its_type)
{
    struct seen all = {0};
    struct seen two = {.left = 2};

    launch(1);
    launch(20);
    launch(300);
    cr_expect(eq(u64, ship_local_for_each(ships, see, &all), 3));
    cr_expect(eq(u64, all.hulls, 321));
    cr_expect(eq(u64, ship_local_for_each(ships, see, &two), 2));
    cr_expect(eq(u64, two.hulls, 21));
}

Test(typed_local, for_each_slot_visits_free_ones_too)
{
    struct seen seen = {0};

    launch(1);
    assert_status(ship_local_free(ships, launch(20)), HAFT_OK);
    cr_expect(eq(u64, ship_local_for_each_slot(ships, see, &seen), 2));
    cr_expect(eq(u64, seen.hulls, 1));
    cr_expect(eq(u64, seen.free_slots, 1));
}

Test(typed_local, restore_brings_an_object_under_its_id)
{
    const struct ship ship = {.hull = 7};
    const ship_id id = ship_id_of(haft_id_pack(HAFT_LAYOUT_32_32, 17, 3, 0));
    const ship_id next = ship_id_of(haft_id_pack(HAFT_LAYOUT_32_32, 18, 5, 0));

    expect_status(ship_local_restore(ships, id, &ship), HAFT_OK);
    cr_expect(eq(u64, ship_resolve(ships.view, id)->hull, 7));
    expect_status(ship_local_restore(ships, id, &ship), HAFT_OCCUPIED);
    expect_status(ship_local_restore_free(ships, next), HAFT_OK);
    cr_expect(not(ship_is_live(ships.view, next)));
    cr_expect(eq(u64, launch(1).id.bits, next.id.bits));
}

static void count_calls(const haft_bad_access *access, void *arg)
{
    cr_expect(eq(int, access->status, HAFT_NO_ID));
    ++*(int *)arg;
}

Test(typed, require_of_a_local_table_gives_the_object_or_asks_the_policy)
{
    int calls = 0;
    const haft_local_options options = {
        .capacity = 5, .on_bad_access = count_calls, .bad_access_arg = &calls};

    assert_status(ship_local_open(&options, &ships), HAFT_OK);
    const ship_id id = launch(7);

    cr_expect(eq(ptr, ship_local_require(ships, id), ship_resolve(ships.view, id)));
    cr_expect(zero(int, calls));
    cr_expect(zero(ptr, ship_local_require(ships, ship_id_nil())));
    cr_expect(eq(int, calls, 1));
    close_ships();
}

Test(typed, an_id_is_enough_for_an_allocator_of_ids_alone)
{
    haft_local *local;
    torpedo_id id;

    assert_status(haft_local_open(&(haft_local_options){.capacity = 5}, &local), HAFT_OK);
    assert_status(haft_local_insert(local, NULL, &id.id), HAFT_OK);
    cr_expect(haft_is_live(haft_local_view(local), torpedo_id_untyped(id)));
    haft_local_close(local);
}

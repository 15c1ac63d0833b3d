/* Typed counted tables: each function does what the one it calls does, for the type alone. */
#include "tests/slots/typed.h"
#include "tests/support.h"
#include <haft/detail/typed_counted.h>
#include <string.h>

TestSuite(typed_counted, .timeout = SUITE_SECONDS);

static ship_counted ships;

static void open_ships(bool copies)
{
    assert_status(
        ship_counted_open(&(haft_counted_options){.capacity = 5, .copies = copies}, &ships),
        HAFT_OK);
}

Test(typed_counted, an_object_lives_is_held_and_ends)
{
    const struct ship new_ship = {.hull = 7};
    struct ship *held;
    struct ship taken;
    ship_id id;

    open_ships(false);
    assert_status(ship_counted_insert(ships, &new_ship, &id), HAFT_OK);
    held = ship_counted_acquire(ships, id);
    cr_assert(not(zero(ptr, held)));
    cr_expect(eq(u64, held->hull, 7));
    cr_expect(eq(ptr, ship_counted_require(ships, id), held));
    cr_expect(ship_counted_again(ships, id));
    cr_expect(ship_counted_is_live(ships, id));
    expect_status(ship_counted_diagnose(ships, id), HAFT_OK);
    expect_status(ship_counted_take(ships, id, &taken), HAFT_IN_USE);
    for (int i = 0; i < 3; i++) {
        expect_status(ship_counted_release(ships, id), HAFT_OK);
    }
    expect_status(ship_counted_release(ships, id), HAFT_NOT_HELD);
    expect_status(ship_counted_take(ships, id, &taken), HAFT_OK);
    cr_expect(eq(u64, taken.hull, 7));
    expect_status(ship_counted_free(ships, id), HAFT_STALE);
    assert_status(ship_counted_insert(ships, NULL, &id), HAFT_OK);
    expect_status(ship_counted_free(ships, id), HAFT_OK);
    expect_status(ship_counted_close(ships), HAFT_OK);
}

Test(typed_counted, a_reservation_is_published_or_given_up)
{
    struct ship *object = NULL;
    ship_id id;
    ship_id at;

    open_ships(false);
    assert_status(ship_counted_reserve(ships, &id, &object), HAFT_OK);
    expect_status(ship_counted_id_at(ships, haft_id_index(HAFT_LAYOUT_32_32, id.id), &at),
                  HAFT_RESERVED);
    cr_expect(ship_id_equal(at, id));
    ship_counted_publish(ships, id);
    cr_expect(eq(ptr, ship_counted_acquire(ships, id), object));
    expect_status(ship_counted_release(ships, id), HAFT_OK);
    assert_status(ship_counted_reserve(ships, &id, NULL), HAFT_OK);
    ship_counted_abort(ships, id);
    expect_status(ship_counted_diagnose(ships, id), HAFT_STALE);
    expect_status(ship_counted_close_wait(ships), HAFT_OK);
}

Test(typed_counted, objects_are_copied_and_met_by_a_cursor)
{
    haft_counted_cursor cursor = {0};
    struct ship copied;
    struct ship *object;
    ship_id id;
    ship_id found;

    open_ships(true);
    assert_status(ship_counted_insert(ships, &(struct ship){.hull = 9}, &id), HAFT_OK);
    cr_assert(ship_counted_copy(ships, id, &copied));
    cr_expect(eq(u64, copied.hull, 9));
    cr_assert(ship_counted_cursor_next(ships, &cursor, &found, &object));
    cr_expect(ship_id_equal(found, id));
    cr_expect(eq(u64, object->hull, 9));
    expect_status(ship_counted_release(ships, id), HAFT_OK);
    cr_expect(not(ship_counted_cursor_next(ships, &cursor, &found, &object)));
    ship_counted_abandon(ships);
}

Test(typed_counted, options_that_are_not_the_types_are_refused)
{
    const haft_counted_options of_size = {.capacity = 5, .object_size = sizeof(struct ship) + 1};
    const haft_counted_options of_alignment = {.capacity = 5, .object_alignment = 64};
    const haft_counted_options with_copies = {.capacity = 5, .copies = true};
    aligned_4096_counted large = {NULL};

    expect_status(ship_counted_open(&of_size, &ships), HAFT_BAD_OBJECT_SIZE);
    expect_status(ship_counted_open(&of_alignment, &ships), HAFT_BAD_OBJECT_ALIGNMENT);
    expect_status(ship_counted_open(NULL, &ships), HAFT_BAD_CAPACITY);
    cr_expect(zero(ptr, ships.counted));
    expect_status(aligned_4096_counted_open(&with_copies, &large), HAFT_BAD_COPIES);
    cr_expect(zero(ptr, large.counted));
}

#define OBJECT_OF(name)                                                                            \
    ((haft_counted_options){.capacity = 5, .object_size = sizeof(name##_object)})

/* A table of the type's size and alignment is adopted; one of another size is not. */
#define EXPECT_ADOPTED(name)                                                                       \
    do {                                                                                           \
        haft_counted_options options = OBJECT_OF(name);                                            \
        name##_counted typed = {NULL};                                                             \
        haft_counted *table;                                                                       \
                                                                                                   \
        options.object_alignment = _Alignof(name##_object);                                        \
        assert_status(haft_counted_open(&options, &table), HAFT_OK);                               \
        expect_status(name##_counted_adopt(table, &typed), HAFT_OK);                               \
        cr_expect(eq(ptr, typed.counted, table));                                                  \
        haft_counted_close(table);                                                                 \
        typed.counted = NULL;                                                                      \
        options.object_size++;                                                                     \
        assert_status(haft_counted_open(&options, &table), HAFT_OK);                               \
        expect_status(name##_counted_adopt(table, &typed), HAFT_WRONG_TYPE);                       \
        cr_expect(zero(ptr, typed.counted));                                                       \
        haft_counted_close(table);                                                                 \
    } while (0)

Test(typed_counted, a_table_opened_elsewhere_is_adopted_if_it_is_of_the_type)
{
    FOR_EACH_TYPE(EXPECT_ADOPTED);
}

Test(typed_counted, a_table_whose_objects_are_less_aligned_is_not_adopted)
{
    haft_counted_options options = OBJECT_OF(aligned_64);
    aligned_64_counted typed = {NULL};
    AT_END(counted_end) haft_counted *table;

    options.object_alignment = 8;
    assert_status(haft_counted_open(&options, &table), HAFT_OK);
    expect_status(aligned_64_counted_adopt(table, &typed), HAFT_WRONG_TYPE);
    cr_expect(zero(ptr, typed.counted));
}

/* Slots are 192 bytes apart: where one object is at a multiple of 128, the next one is not. */
Test(typed_counted, a_table_of_which_only_some_objects_are_aligned_is_not_adopted)
{
    static _Alignas(128) char memory[4096];
    const haft_type type = {128, 128, 256, false};
    haft_counted_options options = {
        .capacity = 4, .object_size = 128, .object_alignment = 64, .memory_size = 2048};

    for (size_t at = 0; at <= 64; at += 64) {
        memset(memory, 0, sizeof memory);
        options.memory = memory + at;
        AT_END(counted_end) haft_counted *table;

        assert_status(haft_counted_open(&options, &table), HAFT_OK);
        expect_status(haft_counted_fits(table, type), HAFT_WRONG_TYPE);
        expect_status(haft_counted_fits(table, (haft_type){128, 64, 192, false}), HAFT_OK);
    }
}

/* Types and tables: the layout that the compiler knows, what opening fills in, what is refused. */
#include "tests/slots/typed.h"
#include "tests/support.h"

TestSuite(typed_fit, .timeout = SUITE_SECONDS);

/* --- the slots are an array of name_slot --- */

static const haft_local_options five = {.capacity = 5};

/* `object` is that member of the slot that the id leads to. */
static void expect_object(const char *type, haft_view view, haft_id id, void *object,
                          size_t alignment)
{
    cr_expect(eq(u64, *((uint64_t *)object - 1), id.bits), "%s", type);
    cr_expect(eq(ptr, object, haft_resolve(view, id)), "%s", type);
    cr_expect(zero(sz, (uintptr_t)object % alignment), "%s", type);
}

static void expect_same_view(const char *type, haft_view view, haft_view expected)
{
    cr_expect(eq(ptr, view.base, expected.base), "%s", type);
    cr_expect(eq(u64, view.mask, expected.mask), "%s", type);
    cr_expect(eq(u64, view.stride, expected.stride), "%s", type);
}

#define EXPECT_SLOTS(name)                                                                         \
    do {                                                                                           \
        name##_local table = {0};                                                                  \
        name##_id id = name##_id_nil();                                                            \
        must(name##_local_open(&five, &table) == HAFT_OK);                                         \
        const haft_view view = haft_local_view(table.local);                                       \
        for (int i = 0; i < 5; i++) {                                                              \
            must(name##_local_insert(table, NULL, &id) == HAFT_OK);                                \
            name##_slot *slot = &table.view.slot[id.id.bits & table.view.mask];                    \
            expect_object(#name, view, id.id, &slot->object, __alignof__(slot->object));           \
            must(name##_resolve(table.view, id) == &slot->object);                                 \
        }                                                                                          \
        must(sizeof(name##_slot) == view.stride);                                                  \
        expect_same_view(#name, name##_view_untyped(name##_view_of(view)), view);                  \
        name##_local_close(table);                                                                 \
    } while (0)

Test(typed_fit, slots_are_an_array_of_the_slot_type)
{
    FOR_EACH_TYPE(EXPECT_SLOTS);
    EXPECT_SLOTS(ship);
    EXPECT_SLOTS(torpedo);
    expect_no_leaks();
}

Test(typed_fit, with_pins_slots_are_an_array_of_the_slot_type)
{
    FOR_EACH_PINNED_TYPE(EXPECT_SLOTS);
    expect_no_leaks();
}

/* --- what opening fills in --- */

/* Opened with nothing said of the type, and with the same. */
#define EXPECT_LOCAL_OPENED(name)                                                                  \
    do {                                                                                           \
        const haft_type type = name##_type();                                                      \
        const haft_local_options same = {.capacity = 5,                                            \
                                         .object_size = type.size,                                 \
                                         .object_alignment = type.alignment,                       \
                                         .pins = type.has_pins};                                   \
        name##_local table = {0};                                                                  \
        must(name##_local_open(&five, &table) == HAFT_OK);                                         \
        must(haft_local_info(table.local).object_size == sizeof(name##_object));                   \
        must(haft_local_info(table.local).pins == type.has_pins);                                  \
        name##_local_close(table);                                                                 \
        must(name##_local_open(&same, &table) == HAFT_OK);                                         \
        name##_local_close(table);                                                                 \
    } while (0)

Test(typed_fit, options_of_a_local_table_are_filled_in_or_the_same)
{
    FOR_EACH_TYPE(EXPECT_LOCAL_OPENED);
    FOR_EACH_PINNED_TYPE(EXPECT_LOCAL_OPENED);
}

#define EXPECT_TABLE_OPENED(name)                                                                  \
    do {                                                                                           \
        const haft_type type = name##_type();                                                      \
        const haft_table_options none = {.capacity = 5};                                           \
        const haft_table_options same = {.capacity = 5,                                            \
                                         .object_size = type.size,                                 \
                                         .object_alignment = type.alignment,                       \
                                         .pins = type.has_pins};                                   \
        name##_table table = {0};                                                                  \
        must(name##_table_open(domain, &none, &table) == HAFT_OK);                                 \
        must(haft_table_info(table.table).object_size == sizeof(name##_object));                   \
        must(haft_table_info(table.table).pins == type.has_pins);                                  \
        must(name##_table_close(table) == HAFT_OK);                                                \
        must(name##_table_open(domain, &same, &table) == HAFT_OK);                                 \
        must(name##_table_close(table) == HAFT_OK);                                                \
    } while (0)

Test(typed_fit, options_of_a_shared_table_are_filled_in_or_the_same)
{
    const haft_domain_options options = domain_options(MEMB_CALLER);
    AT_END(domain_end) haft_domain *domain;

    assert_status(haft_domain_open(&options, &domain), HAFT_OK);
    FOR_EACH_TYPE(EXPECT_TABLE_OPENED);
    FOR_EACH_PINNED_TYPE(EXPECT_TABLE_OPENED);
}

#define EXPECT_PACKED_OPENED(name)                                                                 \
    do {                                                                                           \
        const haft_type type = name##_type();                                                      \
        const haft_packed_options none = {.capacity = 5};                                          \
        const haft_packed_options same = {                                                         \
            .capacity = 5, .object_size = type.size, .object_alignment = type.alignment};          \
        name##_packed table = {0};                                                                 \
        must(name##_packed_open(&none, &table) == HAFT_OK);                                        \
        must(haft_packed_view(table.packed).object_size == sizeof(name##_object));                 \
        must((uintptr_t)table.view.objects % type.alignment == 0);                                 \
        name##_packed_close(table);                                                                \
        must(name##_packed_open(&same, &table) == HAFT_OK);                                        \
        name##_packed_close(table);                                                                \
    } while (0)

Test(typed_fit, options_of_a_packed_table_are_filled_in_or_the_same)
{
    FOR_EACH_TYPE(EXPECT_PACKED_OPENED);
}

/* --- options that contradict the type --- */

/* Opening answers `expected` (an enumerator) and leaves what it would have given alone. */
#define EXPECT_OPEN_REFUSED(expected, ...)                                                         \
    do {                                                                                           \
        haft_domain *domain;                                                                       \
        const haft_domain_options on = domain_options(MEMB_CALLER);                                \
        ship_local local = {0};                                                                    \
        ship_table table = {0};                                                                    \
                                                                                                   \
        assert_status(haft_domain_open(&on, &domain), HAFT_OK);                                    \
        expect_status(ship_local_open(&(haft_local_options){__VA_ARGS__}, &local), expected);      \
        expect_status(ship_table_open(domain, &(haft_table_options){__VA_ARGS__}, &table),         \
                      expected);                                                                   \
        cr_expect(zero(ptr, local.local));                                                         \
        cr_expect(zero(ptr, (void *)local.view.slot));                                             \
        cr_expect(zero(ptr, table.table));                                                         \
        cr_expect(zero(ptr, (void *)table.view.slot));                                             \
        assert_status(haft_domain_close(domain), HAFT_OK);                                         \
    } while (0)

Test(typed_fit, options_that_contradict_the_type_are_refused)
{
    EXPECT_OPEN_REFUSED(HAFT_BAD_OBJECT_SIZE, .capacity = 5,
                        .object_size = sizeof(struct ship) + 1);
    EXPECT_OPEN_REFUSED(HAFT_BAD_OBJECT_SIZE, .capacity = 5, .object_size = 1);
    EXPECT_OPEN_REFUSED(HAFT_BAD_OBJECT_ALIGNMENT, .capacity = 5, .object_alignment = 16);
    EXPECT_OPEN_REFUSED(HAFT_BAD_OBJECT_ALIGNMENT, .capacity = 5, .object_alignment = 1);
    EXPECT_OPEN_REFUSED(HAFT_BAD_PINS, .capacity = 5, .pins = true);
    EXPECT_OPEN_REFUSED(HAFT_BAD_CAPACITY, .capacity = 0); /* as in any table */
}

Test(typed_fit, a_packed_table_of_another_size_or_alignment_is_refused)
{
    const haft_packed_options size = {.capacity = 5, .object_size = sizeof(struct ship) + 8};
    const haft_packed_options alignment = {.capacity = 5,
                                           .object_alignment = _Alignof(struct ship) / 2};
    ship_packed ships = {0};

    expect_status(ship_packed_open(&size, &ships), HAFT_BAD_OBJECT_SIZE);
    expect_status(ship_packed_open(&alignment, &ships), HAFT_BAD_OBJECT_ALIGNMENT);
    expect_status(ship_packed_open(&(haft_packed_options){0}, &ships), HAFT_BAD_CAPACITY);
    cr_expect(zero(ptr, ships.packed));
}

Test(typed_fit, completing_changes_nothing_when_it_refuses)
{
    size_t size = 0;
    size_t alignment = 3;
    bool pins = false;

    expect_status(haft_type_complete(ship_type(), &size, &alignment, &pins),
                  HAFT_BAD_OBJECT_ALIGNMENT);
    cr_expect(zero(sz, size));
    cr_expect(eq(sz, alignment, 3));
    alignment = 0;
    pins = true;
    expect_status(haft_type_complete(ship_type(), &size, &alignment, &pins), HAFT_BAD_PINS);
    cr_expect(zero(sz, size));
    cr_expect(zero(sz, alignment));
}

/* --- tables opened elsewhere --- */

static haft_status adopt_ships(haft_local_options options)
{
    haft_local *local;
    ship_local ships = {0};

    options.capacity = 5;
    assert_status(haft_local_open(&options, &local), HAFT_OK);
    const haft_status status = ship_local_adopt(local, &ships);

    cr_expect(eq(ptr, ships.local, status == HAFT_OK ? local : NULL));
    cr_expect(eq(int, ships.view.slot != NULL, status == HAFT_OK));
    haft_local_close(local);
    return status;
}

Test(typed_fit, a_local_table_is_adopted_if_of_the_type)
{
    const size_t size = sizeof(struct ship);
    const size_t alignment = _Alignof(struct ship);
    const haft_local_options wrong[] = {
        {.object_size = size + 8},
        {.object_size = size - 8},
        {.object_size = 0},
        {.object_size = size - 1}, /* insertion would cut objects off */
        {.object_size = size, .pins = true},
        {.object_size = size, .object_alignment = 64}, /* slots further apart */
    };

    expect_status(
        adopt_ships((haft_local_options){.object_size = size, .object_alignment = alignment}),
        HAFT_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        expect_status(adopt_ships(wrong[i]), HAFT_WRONG_TYPE);
    }
}

/* Here slots of both kinds are alike: the pins lie in what fills up to the alignment. */
Test(typed_fit, a_table_without_pins_is_not_adopted_with_pins_where_slots_are_alike)
{
    const haft_local_options options = {
        .capacity = 5, .object_size = sizeof(struct aligned_16), .object_alignment = 16};
    AT_END(local_end) haft_local *local;
    aligned_16_local plain = {0};
    pinned_aligned_16_local pinned = {0};

    cr_assert(eq(sz, sizeof(aligned_16_slot), sizeof(pinned_aligned_16_slot)));
    assert_status(haft_local_open(&options, &local), HAFT_OK);
    expect_status(pinned_aligned_16_local_adopt(local, &pinned), HAFT_WRONG_TYPE);
    expect_status(aligned_16_local_adopt(local, &plain), HAFT_OK);
}

/* Objects of one size, in slots as far apart; aligned to 8, and to be aligned to 32. */
Test(typed_fit, a_table_that_is_aligned_to_less_is_not_adopted)
{
    const haft_type type = {56, 32, 64, false};
    const haft_local_options options = {.capacity = 5, .object_size = 56};
    AT_END(local_end) haft_local *local = local_open(&options);

    cr_assert(eq(u64, haft_local_view(local).stride, 64));
    expect_status(haft_local_fits(local, type), HAFT_WRONG_TYPE);
    expect_status(haft_local_fits(local, (haft_type){56, 8, 64, false}), HAFT_OK);
}

Test(typed_fit, a_shared_table_and_its_worker_are_adopted_if_of_the_type)
{
    const haft_table_options right = {.capacity = 5,
                                      .object_size = sizeof(struct ship),
                                      .object_alignment = _Alignof(struct ship)};
    const haft_table_options wrong = {.capacity = 5, .object_size = sizeof(struct torpedo)};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &right);
    AT_END(table_end) haft_table *other;
    AT_END(worker_end) haft_worker *others;
    ship_table ships = {0};
    ship_worker worker = {0};

    assert_status(haft_table_open(shared.domain, &wrong, &other), HAFT_OK);
    assert_status(haft_worker_open(other, &others), HAFT_OK);
    expect_status(ship_table_adopt(other, &ships), HAFT_WRONG_TYPE);
    expect_status(ship_worker_adopt(others, &worker), HAFT_WRONG_TYPE);
    cr_expect(zero(ptr, ships.table));
    cr_expect(zero(ptr, worker.worker));
    expect_status(ship_table_adopt(shared.table, &ships), HAFT_OK);
    expect_status(ship_worker_adopt(shared.worker, &worker), HAFT_OK);
    cr_expect(eq(ptr, ships.table, shared.table));
    cr_expect(eq(ptr, worker.worker, shared.worker));
}

Test(typed_fit, a_packed_table_is_adopted_if_of_the_type)
{
    const haft_packed_options right = {.capacity = 5, .object_size = sizeof(struct ship)};
    const haft_packed_options wrong = {.capacity = 5, .object_size = sizeof(struct ship) + 8};
    AT_END(dense_end) haft_packed *packed;
    ship_packed ships = {0};

    assert_status(haft_packed_open(&wrong, &packed), HAFT_OK);
    expect_status(ship_packed_adopt(packed, &ships), HAFT_WRONG_TYPE);
    cr_expect(zero(ptr, ships.packed));
    haft_packed_close(packed);
    assert_status(haft_packed_open(&right, &packed), HAFT_OK);
    expect_status(ship_packed_adopt(packed, &ships), HAFT_OK);
    cr_expect(eq(ptr, ships.packed, packed));
    cr_expect(eq(ptr, (void *)ships.view.objects, haft_packed_objects(packed)));
}

Test(typed_fit, a_packed_table_whose_objects_begin_elsewhere_is_not_adopted)
{
    static _Alignas(16) char objects[64];
    const haft_type type = {16, 16, 32, false};
    haft_dense_view view = {.objects = objects, .object_size = 16};

    expect_status(haft_type_fits_packed(type, view), HAFT_OK);
    view.objects = objects + 8;
    expect_status(haft_type_fits_packed(type, view), HAFT_WRONG_TYPE);
}

Test(typed_fit, a_packed_table_that_is_aligned_to_less_is_not_adopted)
{
    const haft_packed_options options = {.capacity = 5, .object_size = 8};
    AT_END(dense_end) haft_packed *packed;

    assert_status(haft_packed_open(&options, &packed), HAFT_OK);
    expect_status(haft_type_fits_packed((haft_type){8, 16, 24, false}, haft_packed_view(packed)),
                  HAFT_WRONG_TYPE);
}

/* Options of all kinds of table: defaults, limits, refusals. */
#include "tests/packed/packed.h"
#include "tests/support.h"
#include <haft/kit/arena.h>
#include <haft/kit/commands.h>
#include <haft/kit/export.h>
#include <haft/kit/typed.h>
#include <haft/share.h>
#include <string.h>

TestSuite(options, .timeout = SUITE_SECONDS);
TestSuite(local_options, .timeout = SUITE_SECONDS);
TestSuite(packed_options, .timeout = SUITE_SECONDS);

static const haft_table_options good = {.capacity = 10, .object_size = 24};

/* Opening is refused and leaves the table's pointer alone. */
static void expect_refused(int kind, haft_table_options options, haft_status expected)
{
    struct subject subject;

    cr_expect(eq(int, subject_try_open(kind, &options, &subject), expected));
    cr_expect(zero(ptr, subject.local));
    cr_expect(zero(ptr, subject.packed));
    cr_expect(zero(ptr, subject.counted));
    cr_expect(zero(ptr, subject.shared.table));
}

static void expect_accepted(int kind, haft_table_options options)
{
    AT_END(subject_close) struct subject subject;

    assert_status(subject_try_open(kind, &options, &subject), HAFT_OK);
}

/* What only wide addresses have room for; elsewhere the options are good as well.  Not tried under
 * qemu, which keeps too much memory for it. */
static void expect_large_accepted(int kind, haft_table_options options)
{
    if (addresses_are_wide() && !is_emulated()) {
        expect_accepted(kind, options);
    } else if (!addresses_are_wide()) {
        expect_refused(kind, options, HAFT_NO_MEMORY);
    }
}

static uint64_t most_objects(int kind, haft_layout layout)
{
    const uint64_t most = haft_field_max(layout.index_bits) + 1 - HAFT_FIRST_INDEX;
    const uint64_t of_counted = (UINT64_C(1) << 30) - HAFT_FIRST_INDEX;

    return kind == COUNTED && most > of_counted ? of_counted : most;
}

TEST_ON_EACH_KIND(options, capacity_0_or_beyond_the_index_bits_is_refused)
{
    static const haft_layout each[] = {
        {32, 32, 0, 0}, {20, 12, 0, 0}, {16, 16, 0, 0}, {3, 1, 0, 0}};
    haft_table_options options = good;

    for (int i = 0; i < 4; i++) {
        options.layout = each[i];
        options.capacity = 0;
        expect_refused(*kind, options, HAFT_BAD_CAPACITY);
        options.capacity = most_objects(*kind, each[i]) + 1;
        expect_refused(*kind, options, HAFT_BAD_CAPACITY);
        options.capacity = UINT64_MAX;
        expect_refused(*kind, options, HAFT_BAD_CAPACITY);
        options.capacity = UINT64_MAX / 8 + 1;
        expect_refused(*kind, options, HAFT_BAD_CAPACITY);
    }
}

TEST_ON_EACH_KIND(options, the_largest_capacity_of_each_layout_opens)
{
    haft_table_options options = good;

    for (int i = 0; i < LAYOUTS; i++) {
        options.layout = layouts[i];
        options.capacity = most_objects(*kind, layouts[i]);
        if (!kind_has_layout(*kind, layouts[i])) {
            expect_refused(*kind, options, HAFT_BAD_LAYOUT);
            continue;
        }
        if (layouts[i].index_bits == 32) {
            expect_large_accepted(*kind, options);
        } else {
            expect_accepted(*kind, options);
        }
        options.capacity = 1;
        expect_accepted(*kind, options);
    }
}

TEST_ON_EACH_KIND(options, a_layout_out_of_range_is_refused)
{
    static const haft_layout bad[] = {
        {2, 32, 0, 0}, {33, 31, 0, 0},  {32, 0, 0, 0},      {32, 33, 0, 0},
        {3, 61, 0, 0}, {32, 32, 1, 0},  {0, 0, 1, 0},       {32, 0, 32, 0},
        {0, 32, 0, 0}, {16, 16, 33, 0}, {255, 255, 255, 0},
    };
    haft_table_options options = good;

    options.capacity = 1;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        options.layout = bad[i];
        expect_refused(*kind, options, HAFT_BAD_LAYOUT);
    }
}

TEST_ON_EACH_KIND(options, an_object_of_more_than_a_gibibyte_is_refused)
{
    haft_table_options options = good;

    options.object_size = (size_t)1 << 30;
    expect_large_accepted(*kind, options);
    options.object_size++;
    expect_refused(*kind, options, HAFT_BAD_OBJECT_SIZE);
    options.object_size = SIZE_MAX;
    expect_refused(*kind, options, HAFT_BAD_OBJECT_SIZE);
}

TEST_ON_EACH_KIND(options, an_alignment_that_is_no_power_of_two_up_to_4096_is_refused)
{
    static const size_t bad[] = {3,  5,    6,    7,    9,        12,
                                 24, 4095, 4097, 8192, SIZE_MAX, SIZE_MAX / 2 + 1};
    haft_table_options options = good;

    options.object_size = 8192; /* which packed tables want to be a multiple of the alignment */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        options.object_alignment = bad[i];
        expect_refused(*kind, options, HAFT_BAD_OBJECT_ALIGNMENT);
    }
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        options.object_alignment = alignment;
        expect_accepted(*kind, options);
    }
}

TEST_ON_EACH_KIND(options, a_tag_too_large_is_refused)
{
    haft_table_options options = good;

    options.tag = 1;
    expect_refused(*kind, options, HAFT_BAD_TAG);
    options.layout = HAFT_LAYOUT_32_24_8;
    options.tag = 255;
    expect_accepted(*kind, options);
    options.tag = 256;
    expect_refused(*kind, options, HAFT_BAD_TAG);
    options.tag = UINT64_MAX;
    expect_refused(*kind, options, HAFT_BAD_TAG);
}

TEST_ON_EACH_KIND(options, a_first_generation_too_large_is_refused)
{
    haft_table_options options = good;

    options.first_generation = UINT32_MAX;
    expect_accepted(*kind, options);
    options.first_generation = UINT64_C(1) << 32;
    expect_refused(*kind, options, HAFT_BAD_FIRST_GENERATION);
    options.layout = HAFT_LAYOUT_OF(3, 1, 0);
    options.capacity = 4;
    options.first_generation = 1;
    expect_accepted(*kind, options);
    options.first_generation = 2;
    expect_refused(*kind, options, HAFT_BAD_FIRST_GENERATION);
    options.first_generation = HAFT_RANDOM_GENERATION - 1;
    expect_refused(*kind, options, HAFT_BAD_FIRST_GENERATION);
}

TEST_ON_EACH_KIND(options, more_address_space_than_there_is_gives_no_memory)
{
    haft_table_options options = good;

    options.capacity = most_objects(*kind, HAFT_LAYOUT_32_32);
    options.object_size = (size_t)1 << 30;
    expect_refused(*kind, options, HAFT_NO_MEMORY);
    options.object_alignment = 4096;
    expect_refused(*kind, options, HAFT_NO_MEMORY);
}

TEST_ON_EACH_KIND(options, zero_layout_alignment_and_generation_stand_for_32_32_and_8_and_1)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &good);
    const haft_layout layout = subject_layout(&subject);
    haft_id id;

    assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);

    cr_expect(eq(int, layout.index_bits, 32));
    cr_expect(eq(int, layout.generation_bits, 32));
    cr_expect(eq(int, layout.tag_bits, 0));
    cr_expect(eq(u64, haft_id_generation(layout, id), 1));
    cr_expect(eq(u64, subject.view.stride, subject.view.base == NULL ? 0 : 8 + 24));
    cr_expect(zero(u64, (uint64_t)(uintptr_t)subject_find(&subject, id) % 8));
}

TEST_ON_EACH_KIND(options, the_name_is_copied)
{
    char name[] = "particles";
    haft_table_options options = good;

    options.name = name;
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);

    memset(name, 'x', sizeof name - 1);
    cr_expect(eq(str, (char *)subject_info(&subject).name, "particles"));
}

TEST_ON_EACH_KIND(options, without_a_name_there_is_a_common_one)
{
    static const char *const names[KINDS] = {"local table",  "table",        "local table",
                                             "packed table", "packed table", "counted table"};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &good);

    cr_expect(eq(str, (char *)subject_info(&subject).name, (char *)names[*kind]));
}

TEST_ON_EACH_KIND(options, come_back_as_info)
{
    const haft_table_options options = {.name = "particles",
                                        .capacity = 77,
                                        .object_size = 24,
                                        .layout = {20, 30, 6, 0},
                                        .tag = 42,
                                        .pins = *kind == SHARED};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    const haft_info info = subject_info(&subject);

    cr_expect(eq(str, (char *)info.name, "particles"));
    cr_expect(eq(u64, info.capacity, 77));
    cr_expect(eq(sz, info.object_size, 24));
    cr_expect(zero(int, memcmp(&info.layout, &options.layout, sizeof info.layout)));
    cr_expect(eq(u64, info.tag, 42));
    cr_expect(eq(int, info.pins, *kind == SHARED));
    cr_expect(eq(ptr, info.domain, *kind == SHARED ? subject.shared.domain : NULL));
}

/* --- no options --- */

struct ship {
    uint64_t crew;
};

HAFT_TYPED_ID(ship);
HAFT_TYPED(ship, struct ship);
HAFT_TYPED_LOCAL(ship);
HAFT_TYPED_PACKED(ship);
HAFT_TYPED_TABLE(ship);

Test(options, that_are_NULL_are_refused_where_one_must_be_set)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &good);
    haft_table *table = NULL;
    haft_local *local = NULL;
    haft_packed *packed = NULL;
    haft_export *export = NULL;
    ship_table ships;
    ship_local own;
    ship_packed close;

    expect_status(haft_table_open(shared.domain, NULL, &table), HAFT_BAD_CAPACITY);
    expect_status(haft_local_open(NULL, &local), HAFT_BAD_CAPACITY);
    expect_status(haft_packed_open(NULL, &packed), HAFT_BAD_CAPACITY);
    expect_status(haft_export_open(NULL, &export), HAFT_BAD_DIRECTORY);
    expect_status(ship_table_open(shared.domain, NULL, &ships), HAFT_BAD_CAPACITY);
    expect_status(ship_local_open(NULL, &own), HAFT_BAD_CAPACITY);
    expect_status(ship_packed_open(NULL, &close), HAFT_BAD_CAPACITY);
}

Test(options, that_are_NULL_are_defaults_where_none_must_be_set)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &good);
    haft_commands *commands;
    haft_arena *arena;
    haft_local *local;
    AT_END(table_end) haft_table *table;

    assert_status(haft_commands_open(shared.table, NULL, &commands), HAFT_OK);
    haft_commands_close(commands);
    assert_status(haft_arena_open(NULL, &arena), HAFT_OK);
    cr_expect(ne(ptr, haft_arena_alloc(arena, 100), NULL));
    haft_arena_close(arena);
    assert_status(haft_local_open(&(haft_local_options){.capacity = 10}, &local), HAFT_OK);
    assert_status(haft_share(local, shared.domain, NULL, &table), HAFT_OK);
}

/* --- of local tables alone --- */

static void expect_open(haft_local_options options, haft_status expected)
{
    haft_local *const untouched = (haft_local *)(void *)&options;
    haft_local *local = untouched;

    cr_expect(eq(int, haft_local_open(&options, &local), expected));
    if (local != untouched) {
        haft_local_close(local);
    }
    cr_expect(eq(int, local != untouched, expected == HAFT_OK));
    expect_no_leaks();
}

Test(local_options, an_unknown_order_of_reuse_is_refused)
{
    expect_open((haft_local_options){.capacity = 1, .reuse = (haft_local_reuse)2}, HAFT_BAD_REUSE);
    expect_open((haft_local_options){.capacity = 1, .reuse = (haft_local_reuse)-1}, HAFT_BAD_REUSE);
    expect_open((haft_local_options){.capacity = 1, .reuse = HAFT_REUSE_FIFO}, HAFT_OK);
}

Test(local_options, min_free_without_fifo_is_refused)
{
    expect_open((haft_local_options){.capacity = 1, .min_free = 1}, HAFT_BAD_MIN_FREE);
    expect_open((haft_local_options){.capacity = 1, .min_free = 1, .reuse = HAFT_REUSE_FIFO},
                HAFT_OK);
}

Test(local_options, min_free_and_capacity_must_fit_the_index_bits_together)
{
    haft_local_options options = {
        .capacity = 5, .layout = {4, 4, 0, 0}, .reuse = HAFT_REUSE_FIFO, .min_free = 7};

    expect_open(options, HAFT_OK);
    options.min_free = 8;
    expect_open(options, HAFT_BAD_MIN_FREE);
    options.min_free = UINT64_MAX;
    expect_open(options, HAFT_BAD_MIN_FREE);
    options.min_free = UINT64_MAX - 4;
    expect_open(options, HAFT_BAD_MIN_FREE);
    options.capacity = 12;
    options.min_free = 1;
    expect_open(options, HAFT_BAD_MIN_FREE);
    options.min_free = 0;
    expect_open(options, HAFT_OK);
}

Test(local_options, a_bad_option_of_all_tables_is_named_first)
{
    expect_open((haft_local_options){.capacity = 0, .min_free = 1}, HAFT_BAD_CAPACITY);
    expect_open((haft_local_options){.capacity = 5, .layout = {2, 1, 0, 0}, .min_free = 1},
                HAFT_BAD_LAYOUT);
}

Test(local_options, wrap_works_on_every_layout)
{
    for (int i = 0; i < LAYOUTS; i++) {
        expect_open((haft_local_options){.capacity = 4, .layout = layouts[i], .wrap = true},
                    HAFT_OK);
    }
}

Test(local_options, bad_ones_are_told_from_a_lack_of_address_space)
{
    haft_local_options huge = {.capacity = UINT64_C(1) << 31, .object_size = UINT64_C(1) << 30};
    haft_local *local = NULL;

    huge.min_free = UINT64_C(1) << 31;
    cr_expect(eq(int, haft_local_open(&huge, &local), HAFT_BAD_MIN_FREE));
    huge.min_free = 0;
    huge.reuse = (haft_local_reuse)7;
    cr_expect(eq(int, haft_local_open(&huge, &local), HAFT_BAD_REUSE));
    huge.reuse = HAFT_REUSE_FIFO;
    huge.min_free = UINT64_MAX;
    cr_expect(eq(int, haft_local_open(&huge, &local), HAFT_BAD_MIN_FREE));
    cr_expect(eq(ptr, local, NULL));
}

/* --- of packed tables alone --- */

static const haft_packed_options good_packed = {.capacity = 10, .object_size = 24};

static void expect_packed_refused(haft_packed_options options, haft_status expected)
{
    haft_packed *const untouched = (haft_packed *)(void *)&options;
    haft_packed *packed = untouched;

    cr_expect(eq(int, haft_packed_open(&options, &packed), expected));
    cr_expect(eq(ptr, packed, untouched));
    expect_no_leaks();
}

Test(packed_options, a_capacity_without_end_is_refused_with_a_fixed_step_too)
{
    haft_packed_options options = good_packed;

    options.capacity = UINT64_MAX;
    options.growth_step = HAFT_PACKED_FIXED;
    expect_packed_refused(options, HAFT_BAD_CAPACITY);
}

Test(packed_options, object_size_0_or_no_multiple_of_the_alignment_is_refused)
{
    haft_packed_options options = good_packed;

    options.object_alignment = 16; /* of objects of 24 bytes */
    expect_packed_refused(options, HAFT_BAD_OBJECT_ALIGNMENT);
    options.object_alignment = 0;
    options.object_size = 0;
    expect_packed_refused(options, HAFT_BAD_OBJECT_SIZE);
    options.object_size = 1;
    packed_close(packed_open(&options));
}

Test(packed_options, objects_stand_object_size_apart_aligned_for_their_type)
{
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (size_t times = 1; times <= 3; times++) {
            const haft_packed_options options = {
                .capacity = 20, .object_size = alignment * times, .object_alignment = alignment};
            AT_END(dense_end) haft_packed *packed = packed_open(&options);
            char *objects = haft_packed_objects(packed);
            haft_id id;

            for (size_t i = 0; i < 20; i++) {
                must(haft_packed_insert(packed, NULL, &id) == HAFT_OK);
                char *object = haft_packed_resolve(haft_packed_view(packed), id);

                must(object == objects + i * alignment * times);
                must((uintptr_t)object % alignment == 0);
                memset(object, 0xff, alignment * times);
            }
            packed_must_be_sound(packed, alignment * times);
        }
    }
}

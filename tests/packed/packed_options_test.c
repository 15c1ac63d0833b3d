/* The packed table: options. */
#include "tests/packed/packed.h"
#include <string.h>

TestSuite(packed_options, .timeout = SUITE_SECONDS);

static const haft_packed_options good = {.capacity = 10, .object_size = 24};

static void expect_refused(haft_packed_options options, haft_status expected)
{
    haft_packed *const untouched = (haft_packed *)(void *)&options;
    haft_packed *packed = untouched;

    cr_expect(eq(int, haft_packed_open(&options, &packed), expected));
    cr_expect(eq(ptr, packed, untouched));
    expect_no_leaks();
}

static void expect_accepted(haft_packed_options options)
{
    packed_close(packed_open(&options));
}

/* What only wide addresses have room for; elsewhere the options are good as well.  Not tried under
 * qemu, which keeps too much memory for it. */
static void expect_large_accepted(haft_packed_options options)
{
    if (addresses_are_wide() && !is_emulated()) {
        expect_accepted(options);
    } else if (!addresses_are_wide()) {
        expect_refused(options, HAFT_NO_MEMORY);
    }
}

Test(packed_options, capacity_0_or_beyond_the_index_bits_is_refused)
{
    static const haft_layout each[] = {{32, 32, 0}, {20, 12, 0}, {16, 16, 0}, {3, 1, 0}};
    haft_packed_options options = good;

    for (int i = 0; i < 4; i++) {
        options.layout = each[i];
        options.capacity = 0;
        expect_refused(options, HAFT_BAD_CAPACITY);
        options.capacity = haft_field_max(each[i].index_bits) + 1 - 4;
        if (each[i].index_bits == 32) {
            expect_large_accepted(options);
        } else {
            expect_accepted(options);
        }
        options.capacity++;
        expect_refused(options, HAFT_BAD_CAPACITY);
        options.capacity = UINT64_MAX;
        expect_refused(options, HAFT_BAD_CAPACITY);
        options.growth_step = HAFT_PACKED_FIXED;
        expect_refused(options, HAFT_BAD_CAPACITY);
        options.growth_step = 0;
    }
}

Test(packed_options, object_size_0_or_beyond_2_to_the_30_is_refused)
{
    haft_packed_options options = good;

    options.object_size = 0;
    expect_refused(options, HAFT_BAD_OBJECT_SIZE);
    options.object_size = 1;
    expect_accepted(options);
    options.object_size = (size_t)1 << 30;
    expect_large_accepted(options);
    options.object_size++;
    expect_refused(options, HAFT_BAD_OBJECT_SIZE);
    options.object_size = SIZE_MAX;
    expect_refused(options, HAFT_BAD_OBJECT_SIZE);
}

Test(packed_options, an_alignment_that_is_no_power_of_two_or_does_not_divide_the_size_is_refused)
{
    haft_packed_options options = good;

    for (size_t alignment = 1; alignment <= 8; alignment *= 2) {
        options.object_alignment = alignment;
        expect_accepted(options);
    }
    options.object_alignment = 3;
    expect_refused(options, HAFT_BAD_OBJECT_ALIGNMENT);
    options.object_alignment = 16; /* of objects of 24 bytes */
    expect_refused(options, HAFT_BAD_OBJECT_ALIGNMENT);
    options.object_size = 8192;
    options.object_alignment = 4096;
    expect_accepted(options);
    options.object_alignment = 8192;
    expect_refused(options, HAFT_BAD_OBJECT_ALIGNMENT);
}

Test(packed_options, objects_stand_object_size_apart_from_a_page_on)
{
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (size_t times = 1; times <= 3; times++) {
            const haft_packed_options options = {
                .capacity = 20, .object_size = alignment * times, .object_alignment = alignment};
            haft_packed *packed = packed_open(&options);
            char *objects = haft_packed_objects(packed);
            haft_id id;

            must((uintptr_t)objects % 4096 == 0);
            for (size_t i = 0; i < 20; i++) {
                must(haft_packed_insert(packed, NULL, &id) == HAFT_OK);
                char *object = haft_packed_resolve(haft_packed_view_get(packed), id);

                must(object == objects + i * alignment * times);
                must((uintptr_t)object % alignment == 0);
                memset(object, 0xff, alignment * times);
            }
            packed_must_be_sound(packed, alignment * times);
            packed_close(packed);
        }
    }
}

Test(packed_options, a_layout_tag_or_first_generation_out_of_range_is_refused)
{
    haft_packed_options options = good;

    options.layout = HAFT_LAYOUT_OF(2, 32, 0);
    expect_refused(options, HAFT_BAD_LAYOUT);
    options.layout = HAFT_LAYOUT_OF(32, 32, 1);
    expect_refused(options, HAFT_BAD_LAYOUT);
    options.layout = HAFT_LAYOUT_32_24_8;
    options.tag = 255;
    expect_accepted(options);
    options.tag = 256;
    expect_refused(options, HAFT_BAD_TAG);
    options.tag = 0;
    options.first_generation = 0xffffff;
    expect_accepted(options);
    options.first_generation = 0x1000000;
    expect_refused(options, HAFT_BAD_FIRST_GENERATION);
}

Test(packed_options, more_address_space_than_there_is_gives_no_memory)
{
    haft_packed_options options = good;

    options.capacity = (UINT64_C(1) << 32) - 4;
    options.object_size = (size_t)1 << 30;
    expect_refused(options, HAFT_NO_MEMORY);
}

Test(packed_options, zero_layout_and_generation_stand_for_32_32_and_1)
{
    haft_packed *packed = packed_open(&good);
    haft_id id;

    must(haft_packed_insert(packed, NULL, &id) == HAFT_OK);
    cr_expect(eq(int, haft_packed_layout(packed).index_bits, 32));
    cr_expect(eq(int, haft_packed_layout(packed).generation_bits, 32));
    cr_expect(eq(int, haft_packed_layout(packed).tag_bits, 0));
    cr_expect(eq(u64, haft_id_generation(HAFT_LAYOUT_32_32, id), 1));
    cr_expect(eq(u64, haft_packed_capacity(packed), 10));
    packed_close(packed);
}

Test(packed_options, layout_tag_and_first_generation_are_in_every_id)
{
    haft_packed_options options = good;
    haft_id id;

    options.layout = HAFT_LAYOUT_32_24_8;
    options.tag = 77;
    options.first_generation = 1234;
    haft_packed *packed = packed_open(&options);

    for (int i = 0; i < 10; i++) {
        must(haft_packed_insert(packed, NULL, &id) == HAFT_OK);
        cr_expect(eq(u64, haft_id_tag(options.layout, id), 77));
        cr_expect(eq(u64, haft_id_generation(options.layout, id), 1234));
        cr_expect(ge(u32, haft_id_index(options.layout, id), HAFT_FIRST_INDEX));
    }
    packed_close(packed);
}

Test(packed_options, the_name_is_copied_and_without_one_there_is_a_common_one)
{
    char name[] = "particles";
    haft_packed_options options = good;

    options.name = name;
    haft_packed *named = packed_open(&options);
    haft_packed *nameless = packed_open(&good);

    memset(name, 'x', sizeof name - 1);
    cr_expect(eq(str, (char *)haft_packed_name(named), "particles"));
    cr_expect(eq(str, (char *)haft_packed_name(nameless), "packed table"));
    packed_close(named);
    packed_close(nameless);
}

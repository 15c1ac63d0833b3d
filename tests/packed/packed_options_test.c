/* Options of the packed table alone.  The others: options_test.c. */
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

Test(packed_options, a_capacity_without_end_is_refused_with_a_fixed_step_too)
{
    haft_packed_options options = good;

    options.capacity = UINT64_MAX;
    options.growth_step = HAFT_PACKED_FIXED;
    expect_refused(options, HAFT_BAD_CAPACITY);
}

Test(packed_options, object_size_0_or_no_multiple_of_the_alignment_is_refused)
{
    haft_packed_options options = good;

    options.object_alignment = 16; /* of objects of 24 bytes */
    expect_refused(options, HAFT_BAD_OBJECT_ALIGNMENT);
    options.object_alignment = 0;
    options.object_size = 0;
    expect_refused(options, HAFT_BAD_OBJECT_SIZE);
    options.object_size = 1;
    packed_close(packed_open(&options));
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
                char *object = haft_packed_resolve(haft_packed_view(packed), id);

                must(object == objects + i * alignment * times);
                must((uintptr_t)object % alignment == 0);
                memset(object, 0xff, alignment * times);
            }
            packed_must_be_sound(packed, alignment * times);
            packed_close(packed);
        }
    }
}

/* Where slots and objects lie: both kinds of table. */
#include "tests/support.h"
#include <stddef.h>
#include <string.h>

TestSuite(geometry, .timeout = SUITE_SECONDS);

#define OBJECTS 40

static const size_t sizes[] = {0, 1, 7, 8, 9, 16, 24, 56, 63, 64, 100, 4095, 4096};

#define SIZES (sizeof sizes / sizeof sizes[0])

static uint64_t rounded_up(uint64_t size, uint64_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

/* Fill a table with objects of distinct bytes, and find all of them as they were. */
static void expect_objects_apart(int kind, size_t size, size_t alignment)
{
    const haft_table_options options = {
        .capacity = OBJECTS, .object_size = size, .object_alignment = alignment};
    AT_END(subject_close) struct subject subject = subject_open(kind, &options);
    const uint64_t step = alignment > 8 ? alignment : 8;
    haft_id ids[OBJECTS];

    cr_assert(eq(u64, subject.view.stride, rounded_up(8 + size, step)));
    for (int i = 0; i < OBJECTS; i++) {
        void *object;

        assert_status(subject_reserve(&subject, &ids[i], &object), HAFT_OK);
        memset(object, i + 1, size);
        subject_publish(&subject, ids[i]);
        must((uintptr_t)object % alignment == 0);
        must(haft_resolve(subject.view, ids[i]) == object);
        must((const char *)haft_slot_of(subject.view, ids[i]) + 8 == (const char *)object);
    }
    for (int i = 0; i < OBJECTS; i++) {
        const unsigned char *bytes = haft_resolve(subject.view, ids[i]);

        for (size_t b = 0; b < size; b++) {
            must(bytes[b] == i + 1);
        }
    }
}

TEST_ON_EACH_TABLE(geometry, objects_are_aligned_behind_their_word_and_never_overlap)
{
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (size_t i = 0; i < SIZES; i++) {
            expect_objects_apart(*kind, sizes[i], alignment);
        }
    }
}

/* Of any type which may have that size, as malloc() would align it; a word's at least. */
static size_t usual_alignment(size_t size)
{
    size_t alignment = 8;

    while (size != 0 && size % (2 * alignment) == 0 && alignment < _Alignof(max_align_t)) {
        alignment *= 2;
    }
    return alignment;
}

TEST_ON_EACH_KIND(geometry, objects_without_an_option_are_aligned_as_malloc_would_align_them)
{
    for (size_t size = 1; size <= 128; size++) {
        const haft_table_options options = {.capacity = 5, .object_size = size};
        AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
        const size_t step = usual_alignment(size);
        const size_t alignment = subject.packed == NULL ? step : size % step == 0 ? step : 1;

        for (int i = 0; i < 5; i++) {
            haft_id id;

            assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
            must((uintptr_t)subject_find(&subject, id) % alignment == 0);
        }
        if (subject.view.base != NULL) {
            cr_expect(eq(u64, subject.view.stride, rounded_up(8 + size, step)));
        }
    }
}

TEST_ON_EACH_TABLE(geometry, slots_in_address_space_are_a_power_of_two_with_room_for_the_capacity)
{
    for (uint64_t capacity = 1; capacity < 3000; capacity = capacity * 5 / 4 + 1) {
        const haft_table_options options = {.capacity = capacity};
        AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
        const uint64_t count = subject.view.mask + 1;

        cr_expect(zero(u64, count & (count - 1)));
        cr_expect(ge(u64, count, capacity + HAFT_FIRST_INDEX));
    }
}

TEST_ON_EACH_TABLE(geometry, whatever_the_bits_an_id_leads_into_the_table)
{
    const haft_table_options options = {
        .capacity = 1000, .object_size = 24, .object_alignment = 64};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    const char *end = subject.view.base + (subject.view.mask + 1) * subject.view.stride;
    uint64_t seed = 3;

    for (int n = 0; n < 100000; n++) {
        const haft_id id = {n == 0 ? UINT64_MAX : random_next(&seed)};
        const char *slot = (const char *)haft_slot_of(subject.view, id);

        must(slot >= subject.view.base && slot + subject.view.stride <= end);
        must((uintptr_t)slot % 8 == 0);
        must(haft_resolve(subject.view, id) == NULL);
    }
}

TEST_ON_EACH_TABLE(geometry, objects_stay_where_they_are_while_the_table_grows)
{
    const haft_table_options options = {.capacity = 100000, .object_size = 32};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    const haft_view before = subject.view;
    haft_id first;
    haft_id id;

    assert_status(subject_insert(&subject, "thirty-one characters of a text", &first), HAFT_OK);
    void *object = haft_resolve(subject.view, first);

    for (int i = 1; i < 100000; i++) {
        must(subject_insert(&subject, NULL, &id) == HAFT_OK);
    }
    const haft_view after =
        *kind == LOCAL ? haft_local_view(subject.local) : haft_table_view(subject.shared.table);

    cr_expect(eq(ptr, haft_resolve(subject.view, first), object));
    cr_expect(eq(str, (char *)object, "thirty-one characters of a text"));
    cr_expect(eq(ptr, after.base, before.base));
    cr_expect(eq(u64, after.mask, before.mask));
    cr_expect(eq(u64, after.stride, before.stride));
}

TEST_ON_EACH_TABLE(geometry, the_last_slot_of_a_full_layout_is_usable_to_its_last_byte)
{
    const haft_table_options options = {
        .capacity = 12, .object_size = 4096, .layout = HAFT_LAYOUT_OF(4, 4, 0)};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[16];
    bool met_last = false;

    cr_assert(eq(u64, subject_fill(&subject, ids, 16), 12));
    for (int i = 0; i < 12; i++) {
        memset(haft_resolve(subject.view, ids[i]), 0xff, 4096);
        met_last = met_last || haft_id_index(options.layout, ids[i]) == 15;
    }
    cr_expect(met_last);
    for (int i = 0; i < 12; i++) {
        cr_expect(haft_is_live(subject.view, ids[i]));
    }
}

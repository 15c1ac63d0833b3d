/* Opening a counted table: options, given memory, footprint, layouts, and where objects lie. */
#include "tests/base/counted.h"
#include "tests/support.h"
#include <haft/counted.h>
#include <stdlib.h>
#include <string.h>

TestSuite(counted_open, .timeout = SUITE_SECONDS);

static haft_counted *untouched; /* any address */

#define OF(...) &((haft_counted_options){__VA_ARGS__})
#define TEN(...) OF(.capacity = 10, __VA_ARGS__)

/* Neither opening nor the footprint takes the options, and the status names the one. */
static void expect_refused(const haft_counted_options *options, haft_status status)
{
    haft_counted *const before = (haft_counted *)(void *)&untouched;
    haft_counted *table = before;
    haft_footprint footprint = {.bytes = 77};

    cr_expect(eq(str, (char *)haft_status_name(haft_counted_open(options, &table)),
                 (char *)haft_status_name(status)));
    cr_expect(eq(ptr, table, before));
    cr_expect(eq(int, haft_counted_footprint(options, &footprint), status));
    cr_expect(eq(u64, footprint.bytes, 77));
}

Test(counted_open, a_bad_option_is_named)
{
    expect_refused(NULL, HAFT_BAD_CAPACITY);
    expect_refused(TEN(.layout = {32, 32, 0, 1}), HAFT_BAD_LAYOUT);
    expect_refused(TEN(.min_free = (UINT64_C(1) << 30) - 13), HAFT_BAD_MIN_FREE);
    expect_refused(TEN(.min_free = UINT64_MAX), HAFT_BAD_MIN_FREE);
    expect_refused(TEN(.copies = true, .object_size = 65), HAFT_BAD_COPIES);
    expect_refused(TEN(.reserved = {1}), HAFT_UNKNOWN_OPTION);
    expect_refused(TEN(.reserved = {0, 1}), HAFT_UNKNOWN_OPTION);
}

Test(counted_open, an_option_of_a_later_version_is_refused_unless_it_is_zero)
{
    struct {
        haft_counted_options known;
        uint64_t later;
    } options = {.known = {.capacity = 1}};
    haft_counted *table;

    assert_status(haft_counted_open_sized(&options.known, sizeof options, &table), HAFT_OK);
    expect_status(haft_counted_close(table), HAFT_OK);
    options.later = 1;
    expect_status(haft_counted_open_sized(&options.known, sizeof options, &table),
                  HAFT_UNKNOWN_OPTION);
}

Test(counted_open, it_has_the_size)
{
    AT_END(counted_end) haft_counted *table;

    assert_status(haft_counted_open(TEN(.object_size = 24), &table), HAFT_OK);
    cr_expect(eq(sz, haft_counted_info(table).object_size, 24));
}

/* --- layouts --- */

/* In a table of that layout `capacity` objects fit, all with different ids. */
static void live_in(haft_layout layout, uint64_t capacity, uint64_t tag, uint64_t min_free)
{
    const haft_counted_options options = {
        .capacity = capacity, .object_size = 8, .layout = layout, .tag = tag, .min_free = min_free};
    AT_END(counted_end) haft_counted *table;
    haft_id ids[64];
    haft_id more;

    must(haft_counted_open(&options, &table) == HAFT_OK);
    for (uint64_t i = 0; i < capacity; i++) {
        must(haft_counted_insert(table, &i, &ids[i]) == HAFT_OK);
        must(haft_id_tag(layout, ids[i]) == tag);
    }
    must(haft_counted_insert(table, NULL, &more) == HAFT_FULL);
    for (uint64_t i = 0; i < capacity; i++) {
        const uint64_t *held = haft_counted_acquire(table, ids[i]);

        must(held != NULL && *held == i);
        must(haft_counted_release(table, ids[i]) == HAFT_OK);
        must(haft_counted_acquire(table, (haft_id){ids[i].bits ^ UINT64_C(1) << 63}) == NULL);
        must(haft_counted_free(table, ids[i]) == HAFT_OK);
        must(!haft_counted_is_live(table, ids[i]));
    }
}

Test(counted_open, every_layout_with_32_generation_bits_or_fewer_works)
{
    for (uint8_t index = 3; index <= 32; index++) {
        for (uint8_t generation = 1; generation <= 32; generation++) {
            const uint8_t tag =
                (uint8_t)(64 - index - generation < 8 ? 64 - index - generation : 8);
            const haft_layout layout = {index, generation, tag, 0};
            const uint64_t most = (UINT64_C(1) << index) - 4;

            live_in(layout, most < 20 ? most : 20, haft_field_max(tag), 0);
            if (most > 8) {
                live_in(layout, 5, 0, 3);
            }
        }
    }
    expect_no_leaks();
}

/* --- where objects lie --- */

Test(counted_open, objects_are_aligned_apart_and_hold_all_their_bytes)
{
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (size_t size = 1; size <= 200; size += 13) {
            for (int kind = 0; kind < 4; kind++) {
                AT_END(counted_end) haft_counted *table;
                haft_id ids[5];
                char *held[5];

                must(haft_counted_open(OF(.capacity = 5, .object_size = size,
                                          .object_alignment = alignment, .spread = kind & 1,
                                          .wipe = kind & 2),
                                       &table) == HAFT_OK);
                for (int i = 0; i < 5; i++) {
                    must(haft_counted_insert(table, NULL, &ids[i]) == HAFT_OK);
                    held[i] = haft_counted_acquire(table, ids[i]);
                    must((uintptr_t)held[i] % alignment == 0);
                    memset(held[i], 'a' + i, size);
                }
                for (int i = 0; i < 5; i++) {
                    for (size_t at = 0; at < size; at++) {
                        must(held[i][at] == 'a' + i);
                    }
                    must(kind % 2 == 0 || i == 0 ||
                         (uintptr_t)held[i] / 64 != (uintptr_t)held[i - 1] / 64);
                    must(haft_counted_release(table, ids[i]) == HAFT_OK);
                }
            }
        }
    }
}

Test(counted_open, spread_words_share_no_cache_line)
{
    AT_END(counted_end) haft_counted *table;
    haft_id id;
    uintptr_t last = 0;

    assert_status(haft_counted_open(TEN(.spread = true), &table), HAFT_OK);
    for (int i = 0; i < 10; i++) {
        must(haft_counted_insert(table, NULL, &id) == HAFT_OK);
        const uintptr_t word = (uintptr_t)haft_counted_acquire(table, id) - 8;

        must(haft_counted_release(table, id) == HAFT_OK);
        must(word / 64 != last);
        last = word / 64;
    }
}

/* --- given memory --- */

static const haft_counted_options to_give[] = {
    {.capacity = 1},
    {.capacity = 1000, .object_size = 24, .name = "a longer name than that of the kind"},
    {.capacity = 100, .object_size = 100, .object_alignment = 256},
    {.capacity = 50, .object_size = 8, .min_free = 50},
    {.capacity = 50, .object_size = 8, .spread = true},
    {.capacity = 50, .object_size = 61, .copies = true},
    {.capacity = 50, .object_size = 3, .wipe = true},
};

Test(counted_open,
     given_memory_of_its_footprint_suffices_wherever_it_begins_and_a_byte_less_does_not)
{
    for (size_t i = 0; i < sizeof to_give / sizeof *to_give; i++) {
        haft_counted_options options = to_give[i];
        haft_footprint footprint;
        haft_counted *table;
        haft_id id;

        assert_status(haft_counted_footprint(&options, &footprint), HAFT_OK);
        cr_expect(eq(u64, footprint.capacity, options.capacity));
        for (size_t begin = 0; begin < 65; begin += 5) {
            char *memory = malloc(begin + footprint.bytes); /* AddressSanitizer knows its end */

            memset(memory, 'x', begin + footprint.bytes);
            options.memory = memory + begin;
            options.memory_size = footprint.bytes - 1;
            assert_status(haft_counted_open(&options, &table), HAFT_NO_MEMORY);
            options.memory_size = footprint.bytes;
            assert_status(haft_counted_open(&options, &table), HAFT_OK);
            for (uint64_t n = 0; n < options.capacity; n++) {
                must(haft_counted_insert(table, NULL, &id) == HAFT_OK);
                must(haft_counted_acquire(table, id) != NULL);
                must(haft_counted_release(table, id) == HAFT_OK);
            }
            must(haft_counted_insert(table, NULL, &id) == HAFT_FULL);
            expect_status(haft_counted_close(table), HAFT_OK);
            free(memory);
        }
    }
    expect_no_leaks();
}

Test(counted_open, its_bytes_are_all_that_was_given_or_the_slots_ever_used)
{
    haft_counted_options options = {.capacity = 1000000, .object_size = 56};
    haft_footprint footprint;
    haft_counted *table;

    assert_status(haft_counted_open(&options, &table), HAFT_OK);
    assert_status(haft_counted_insert(table, NULL, &(haft_id){0}), HAFT_OK);
    cr_expect(lt(u64, haft_counted_stats_get(table).bytes, 10000));
    expect_status(haft_counted_close(table), HAFT_OK);
    options.capacity = 100;
    assert_status(haft_counted_footprint(&options, &footprint), HAFT_OK);
    options.memory = malloc((size_t)footprint.bytes);
    options.memory_size = footprint.bytes;
    assert_status(haft_counted_open(&options, &table), HAFT_OK);
    cr_expect(ge(u64, haft_counted_stats_get(table).bytes, 100 * 64));
    cr_expect(le(u64, haft_counted_stats_get(table).bytes, footprint.bytes));
    expect_status(haft_counted_close(table), HAFT_OK);
    free(options.memory);
}

/* --- allocator --- */

Test(counted_open, all_memory_comes_from_the_allocator_and_goes_back_and_each_refusal_is_told)
{
    for (size_t i = 0; i < sizeof to_give / sizeof *to_give; i++) {
        haft_counted_options options = to_give[i];
        struct counted counted = {.left = -1};
        const haft_allocator allocator = counted_allocator(&counted);
        haft_counted *table;

        options.allocator = &allocator;
        assert_status(haft_counted_open(&options, &table), HAFT_OK);
        must(counted.calls > 0 && counted.held > 0);
        expect_status(haft_counted_close(table), HAFT_OK);
        cr_expect(zero(sz, counted.held));
        for (int left = 0, calls = counted.calls; left < calls; left++) {
            counted.left = left;
            expect_status(haft_counted_open(&options, &table), HAFT_NO_MEMORY);
            cr_expect(zero(sz, counted.held));
        }
    }
    expect_no_leaks();
}

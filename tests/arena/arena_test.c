/* Arenas: opening, allocation, blocks, another size, statistics. */
#include "tests/arena/arena_support.h"
#include <string.h>

static haft_arena *arena;

static void open_small(void)
{
    arena = open_arena(&(haft_arena_options){.block_size = 4096});
}

static void close_small(void)
{
    haft_arena_close(arena);
}

TestSuite(arena_open, .timeout = SUITE_SECONDS);
TestSuite(arena_blocks, .timeout = SUITE_SECONDS);
TestSuite(arena_alloc, .timeout = SUITE_SECONDS, .init = open_small, .fini = close_small);
TestSuite(arena_resize, .timeout = SUITE_SECONDS, .init = open_small, .fini = close_small);

static size_t used(void)
{
    return haft_arena_stats_get(arena).used;
}

/* --- opening --- */

static void refuse(haft_arena_options options, haft_status expected)
{
    haft_arena *untouched = (haft_arena *)&options;

    cr_expect(eq(int, haft_arena_open(&options, &untouched), expected));
    cr_expect(eq(ptr, untouched, &options));
}

Test(arena_open, options_out_of_range_are_refused_by_name)
{
    char buffer[HAFT_ARENA_OVERHEAD];
    const size_t limit = (size_t)1 << 30;

    refuse((haft_arena_options){.block_size = limit + 1}, HAFT_BAD_BLOCK_SIZE);
    refuse((haft_arena_options){.block_size = 100, .max_block_size = 99}, HAFT_BAD_MAX_BLOCK_SIZE);
    refuse((haft_arena_options){.max_block_size = limit + 1}, HAFT_BAD_MAX_BLOCK_SIZE);
    refuse((haft_arena_options){.max_block_size = 65535}, HAFT_BAD_MAX_BLOCK_SIZE);
    refuse((haft_arena_options){.buffer = buffer, .buffer_size = sizeof buffer - 1},
           HAFT_BAD_BUFFER_SIZE);
    refuse((haft_arena_options){.buffer_size = 1000}, HAFT_BAD_BUFFER_SIZE);
}

Test(arena_open, all_zero_options_give_64_KiB)
{
    haft_arena *made = open_arena(&(haft_arena_options){.block_size = 0});

    cr_expect(eq(sz, haft_arena_stats_get(made).capacity, 65536));
    cr_expect(eq(sz, haft_arena_stats_get(made).used, 0));
    haft_arena_close(made);
    expect_no_leaks();
}

Test(arena_open, without_memory_is_no_memory)
{
    struct counted none = {.left = 0};
    const haft_allocator from = counted_allocator(&none);

    refuse((haft_arena_options){.allocator = &from}, HAFT_NO_MEMORY);
}

Test(arena_open, the_smallest_buffer_at_any_address_will_do)
{
    char buffer[HAFT_ARENA_OVERHEAD + 16];

    for (size_t at = 0; at < 16; at++) {
        AT_END(arena_end)
        haft_arena *made = open_arena(&(haft_arena_options){
            .buffer = buffer + at, .buffer_size = HAFT_ARENA_OVERHEAD, .fixed = true});

        cr_expect(eq(ptr, haft_arena_alloc(made, HAFT_ARENA_OVERHEAD), NULL));
    }
    memset(buffer, 1, sizeof buffer); /* not poisoned any more */
}

Test(arena_open, a_fixed_buffer_never_asks_the_allocator)
{
    static char buffer[HAFT_ARENA_OVERHEAD + 1000];
    struct counted counted = {.left = 100};
    const haft_allocator from = counted_allocator(&counted);
    haft_arena *made = open_arena(&(haft_arena_options){
        .buffer = buffer, .buffer_size = sizeof buffer, .fixed = true, .allocator = &from});
    char *inside = haft_arena_alloc(made, 900);

    cr_expect(inside >= buffer && inside + 900 <= buffer + sizeof buffer);
    cr_expect(eq(ptr, haft_arena_alloc(made, 900), NULL));
    cr_expect(eq(ptr, haft_arena_alloc(made, 1 << 20), NULL));
    haft_arena_close(made);
    cr_expect(eq(int, counted.calls, 0));
}

Test(arena_open, a_buffer_that_is_not_fixed_goes_on_in_blocks)
{
    char buffer[1000];
    haft_arena *made = open_arena(
        &(haft_arena_options){.buffer = buffer, .buffer_size = sizeof buffer, .block_size = 5000});
    const size_t before = haft_arena_stats_get(made).capacity;

    cr_expect(ne(ptr, haft_arena_alloc(made, 2000), NULL));
    cr_expect(eq(sz, haft_arena_stats_get(made).capacity - before, 5000));
    haft_arena_close(made);
    expect_no_leaks();
}

Test(arena_open, the_second_block_is_as_large_as_asked_for_behind_a_buffer_of_any_size)
{
    static char buffer[100000];
    static const size_t capacities[] = {5000, 15000};
    haft_arena *made = open_arena(&(haft_arena_options){.buffer = buffer,
                                                        .buffer_size = sizeof buffer,
                                                        .block_size = 5000,
                                                        .max_block_size = 10000});
    const size_t before = haft_arena_stats_get(made).capacity;

    for (size_t i = 0; i < 2; i++) {
        const size_t capacity = haft_arena_stats_get(made).capacity;

        while (haft_arena_stats_get(made).capacity == capacity) {
            haft_arena_alloc(made, 64);
        }
        cr_expect(eq(sz, haft_arena_stats_get(made).capacity - before, capacities[i]));
    }
    haft_arena_close(made);
    expect_no_leaks();
}

/* --- allocation --- */

Test(arena_alloc, every_power_of_two_is_an_alignment_up_to_the_limit)
{
    for (size_t alignment = 1; alignment <= HAFT_ARENA_MAX_ALIGNMENT; alignment *= 2) {
        for (size_t size = 0; size < 3; size++) {
            const char *memory = haft_arena_alloc_aligned(arena, size, alignment);

            cr_assert(ne(ptr, (void *)memory, NULL));
            cr_expect(zero(sz, (uintptr_t)memory % alignment));
        }
    }
}

Test(arena_alloc, other_alignments_are_NULL_and_change_nothing)
{
    const size_t wrong[] = {0, 3, 12, 4097, 2 * HAFT_ARENA_MAX_ALIGNMENT, SIZE_MAX};
    const size_t before = used();

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect(eq(ptr, haft_arena_alloc_aligned(arena, 1, wrong[i]), NULL));
    }
    cr_expect(eq(sz, used(), before));
}

Test(arena_alloc, alignments_beyond_the_limit_are_NULL_even_where_there_is_room)
{
    const size_t beyond = 2 * HAFT_ARENA_MAX_ALIGNMENT;
    haft_arena *made = open_arena(&(haft_arena_options){.block_size = 3 * beyond, .fixed = true});

    cr_expect(eq(ptr, haft_arena_alloc_aligned(made, 1, beyond), NULL));
    cr_expect(ne(ptr, haft_arena_alloc_aligned(made, 1, HAFT_ARENA_MAX_ALIGNMENT), NULL));
    haft_arena_close(made);
}

Test(arena_alloc, sizes_beyond_any_memory_are_NULL_and_change_nothing)
{
    const size_t large[] = {addresses_are_wide() ? PTRDIFF_MAX / 2 : PTRDIFF_MAX,
                            (size_t)PTRDIFF_MAX,
                            (size_t)PTRDIFF_MAX + 1,
                            SIZE_MAX - 4096 - 15,
                            SIZE_MAX - 15,
                            SIZE_MAX - 1,
                            SIZE_MAX};
    haft_arena_alloc_aligned(arena, 3, 1);
    const haft_arena_stats before = haft_arena_stats_get(arena);

    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        for (size_t alignment = 1; alignment <= HAFT_ARENA_MAX_ALIGNMENT; alignment *= 2) {
            cr_expect(eq(ptr, haft_arena_alloc_aligned(arena, large[i], alignment), NULL));
        }
    }
    const haft_arena_stats after = haft_arena_stats_get(arena);

    cr_expect(zero(int, memcmp(&before, &after, sizeof before)));
}

Test(arena_alloc, products_that_overflow_are_NULL)
{
    const size_t half = SIZE_MAX / 2 + 1;
    int *array = haft_arena_new_array(arena, int, 10);

    cr_expect(eq(ptr, haft_arena_alloc_array(arena, half, 2), NULL));
    cr_expect(eq(ptr, haft_arena_alloc_zeroed(arena, 2, half), NULL));
    cr_expect(eq(ptr, haft_arena_new_array(arena, int, SIZE_MAX / 4 + 2), NULL));
    cr_expect(eq(ptr, haft_arena_resize_array(arena, array, 10, half, 2, 4), NULL));
    cr_expect(ne(ptr, haft_arena_alloc_array(arena, 0, SIZE_MAX), NULL));
}

Test(arena_alloc, size_zero_has_an_address_of_its_own)
{
    const void *a = haft_arena_alloc_aligned(arena, 0, 1);
    const void *b = haft_arena_alloc_aligned(arena, 0, 1);
    const void *c = haft_arena_alloc_aligned(arena, 1, 1);

    cr_expect(ne(ptr, (void *)a, NULL));
    cr_expect(ne(ptr, (void *)a, (void *)b));
    cr_expect(ne(ptr, (void *)b, (void *)c));
}

Test(arena_alloc, zeroed_memory_is_zero_where_other_bytes_were)
{
    memset(haft_arena_alloc(arena, 1000), 0xff, 1000);
    haft_arena_reset(arena);
    const char *zeros = haft_arena_alloc_zeroed(arena, 10, 100);

    for (int i = 0; i < 1000; i++) {
        must(zeros[i] == 0);
    }
}

Test(arena_alloc, typed_allocation_has_the_types_size_and_alignment)
{
    haft_arena_alloc_aligned(arena, 1, 1);
    double *number = haft_arena_new(arena, double);
    const size_t before = used();
    double *numbers = haft_arena_new_array(arena, double, 10);

    cr_expect(zero(sz, (uintptr_t)number % _Alignof(double)));
    cr_expect(ge(sz, used() - before, 10 * sizeof *numbers));
    *number = numbers[9] = 1;
}

/* --- blocks --- */

Test(arena_blocks, a_fixed_arena_takes_its_block_to_the_last_byte)
{
    haft_arena *made = open_arena(&(haft_arena_options){.block_size = 1000, .fixed = true});
    size_t bytes = 0;

    while (haft_arena_alloc_aligned(made, 1, 1) != NULL) {
        bytes++;
    }
    cr_expect(eq(sz, haft_arena_stats_get(made).used, under_asan() ? 24 * bytes : bytes));
    cr_expect(eq(sz, bytes, under_asan() ? 1000 / 24 : 1000));
    cr_expect(eq(sz, haft_arena_stats_get(made).capacity, 1000));
    haft_arena_close(made);
}

Test(arena_blocks, each_has_twice_the_bytes_of_the_one_before_up_to_the_limit)
{
    static const size_t capacities[] = {1024, 3072, 6072, 9072, 12072};
    haft_arena *made =
        open_arena(&(haft_arena_options){.block_size = 1024, .max_block_size = 3000});

    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        const size_t capacity = haft_arena_stats_get(made).capacity;

        cr_expect(eq(sz, capacity, capacities[i]));
        while (haft_arena_stats_get(made).capacity == capacity) {
            haft_arena_alloc(made, 64);
        }
    }
    haft_arena_close(made);
    expect_no_leaks();
}

Test(arena_blocks, what_is_too_large_gets_its_own_and_the_one_in_use_stays)
{
    haft_arena *made =
        open_arena(&(haft_arena_options){.block_size = 1024, .max_block_size = 1024});
    char *before = haft_arena_alloc(made, 16);
    char *large = haft_arena_alloc(made, 100000);
    char *after = haft_arena_alloc(made, 16);
    const size_t capacity = haft_arena_stats_get(made).capacity;

    memset(large, 1, 100000);
    cr_expect(eq(sz, (size_t)(after - before), under_asan() ? 32 : 16));
    cr_expect(capacity >= 101024 && capacity < 101200);
    haft_arena_close(made);
    expect_no_leaks();
}

static void one_round(haft_arena *made, char **addresses)
{
    for (int i = 0; i < 100; i++) {
        addresses[i] = haft_arena_alloc(made, i % 10 == 0 ? 10000 : 100);
        must(addresses[i] != NULL);
    }
}

Test(arena_blocks, all_are_kept_on_reset_and_used_again)
{
    struct counted counted = {.left = 1000};
    const haft_allocator from = counted_allocator(&counted);
    haft_arena *made = open_arena(
        &(haft_arena_options){.block_size = 1024, .max_block_size = 2048, .allocator = &from});
    char *first[100];
    char *again[100];

    one_round(made, first);
    const int calls = counted.calls;

    for (int round = 0; round < 3; round++) {
        haft_arena_reset(made);
        one_round(made, again);
    }
    cr_expect(eq(int, counted.calls, calls));
    cr_expect(eq(ptr, again[1], first[1]));
    cr_expect(eq(ptr, again[99], first[99]));
    haft_arena_close(made);
    cr_expect(eq(sz, counted.held, 0));
}

Test(arena_blocks, one_kept_and_not_used_for_a_round_is_still_kept)
{
    struct counted counted = {.left = 1000};
    const haft_allocator from = counted_allocator(&counted);
    haft_arena *made = open_arena(
        &(haft_arena_options){.block_size = 1024, .max_block_size = 1024, .allocator = &from});

    haft_arena_alloc(made, 20000);
    haft_arena_alloc(made, 30000);
    haft_arena_reset(made);
    haft_arena_alloc(made, 20000);
    haft_arena_reset(made);
    const int calls = counted.calls;

    haft_arena_alloc(made, 20000);
    haft_arena_alloc(made, 30000);
    cr_expect(eq(int, counted.calls, calls));
    haft_arena_close(made);
    cr_expect(eq(sz, counted.held, 0));
}

Test(arena_blocks, the_smallest_kept_one_that_will_do_is_used)
{
    haft_arena *made =
        open_arena(&(haft_arena_options){.block_size = 1024, .max_block_size = 1024});
    char *large = haft_arena_alloc(made, 30000);
    char *middle = haft_arena_alloc(made, 20000);

    haft_arena_alloc(made, 50000);
    haft_arena_reset(made);
    cr_expect(eq(ptr, haft_arena_alloc(made, 15000), middle));
    cr_expect(eq(ptr, haft_arena_alloc(made, 15000), large));
    haft_arena_close(made);
}

Test(arena_blocks, kept_ones_too_small_for_an_alignment_are_passed_by)
{
    haft_arena *made = open_arena(&(haft_arena_options){.block_size = 64, .max_block_size = 64});

    for (int i = 0; i < 100; i++) {
        haft_arena_alloc(made, 60);
    }
    haft_arena_reset(made);
    char *aligned = haft_arena_alloc_aligned(made, 1, 65536);

    cr_expect(zero(sz, (uintptr_t)aligned % 65536));
    haft_arena_close(made);
}

Test(arena_blocks, trim_gives_back_all_that_hold_nothing_but_the_first)
{
    struct counted counted = {.left = 1000};
    const haft_allocator from = counted_allocator(&counted);
    haft_arena *made = open_arena(
        &(haft_arena_options){.block_size = 1024, .max_block_size = 2048, .allocator = &from});
    const size_t opened = counted.held;
    char *addresses[100];

    one_round(made, addresses);
    const size_t full = counted.held;

    haft_arena_trim(made); /* all hold something */
    cr_expect(eq(sz, counted.held, full));
    memset(addresses[99], 1, 100);
    haft_arena_reset(made);
    haft_arena_trim(made);
    cr_expect(eq(sz, counted.held, opened));
    cr_expect(eq(sz, haft_arena_stats_get(made).capacity, 1024));
    one_round(made, addresses);
    haft_arena_close(made);
    cr_expect(eq(sz, counted.held, 0));
}

Test(arena_blocks, the_nth_failing_changes_nothing)
{
    for (int n = 1; n < 20; n++) {
        struct counted counted = {.left = n};
        const haft_allocator from = counted_allocator(&counted);
        haft_arena *made = open_arena(
            &(haft_arena_options){.block_size = 1024, .max_block_size = 1024, .allocator = &from});
        haft_arena_stats before;

        do {
            before = haft_arena_stats_get(made);
        } while (haft_arena_alloc(made, before.used % 5 == 0 ? 5000 : 500) != NULL);
        const haft_arena_stats after = haft_arena_stats_get(made);

        cr_expect(zero(int, memcmp(&before, &after, sizeof before)));
        haft_arena_reset(made);
        cr_expect(ne(ptr, haft_arena_alloc(made, 500), NULL));
        haft_arena_close(made);
        cr_expect(eq(sz, counted.held, 0));
    }
}

/* --- another size --- */

Test(arena_resize, the_last_grows_and_shrinks_in_place)
{
    char *text = haft_arena_alloc(arena, 10);

    memcpy(text, "012345678", 10);
    const size_t small = used();

    cr_expect(eq(ptr, haft_arena_resize(arena, text, 10, 3000, 16), text));
    cr_expect(ge(sz, used(), 3000));
    memset(text + 10, 1, 2990);
    cr_expect(eq(ptr, haft_arena_resize(arena, text, 3000, 10, 16), text));
    cr_expect(eq(sz, used(), small));
    cr_expect(eq(str, text, "012345678"));
    cr_expect(ge(sz, haft_arena_stats_get(arena).high_water, 3000));
}

Test(arena_resize, another_grows_by_moving_and_keeps_its_bytes)
{
    char *text = haft_arena_strdup(arena, "to be kept");
    char *last = haft_arena_strdup(arena, "untouched");
    char *moved = haft_arena_resize(arena, text, 11, 100, 1);

    cr_expect(ne(ptr, moved, text));
    cr_expect(eq(str, moved, "to be kept"));
    cr_expect(eq(str, last, "untouched"));
    memset(moved, 1, 100);
    cr_expect(eq(str, last, "untouched"));
}

Test(arena_resize, another_shrinks_in_place_and_frees_nothing)
{
    char *text = haft_arena_strdup(arena, "to be cut");
    haft_arena_strdup(arena, "last");
    const size_t before = used();

    cr_expect(eq(ptr, haft_arena_resize(arena, text, 10, 2, 1), text));
    cr_expect(eq(sz, used(), before));
    cr_expect(zero(int, memcmp(text, "to", 2)));
}

Test(arena_resize, the_last_moves_to_another_block_when_its_own_is_full)
{
    char *bytes = haft_arena_alloc(arena, 3000);

    memset(bytes, 7, 3000);
    char *moved = haft_arena_resize(arena, bytes, 3000, 5000, 16);

    cr_assert(ne(ptr, moved, NULL));
    cr_expect(ne(ptr, moved, bytes));
    for (int i = 0; i < 3000; i++) {
        must(moved[i] == 7);
    }
}

Test(arena_resize, of_NULL_allocates)
{
    char *bytes = haft_arena_resize(arena, NULL, 0, 100, 64);

    cr_assert(ne(ptr, bytes, NULL));
    cr_expect(zero(sz, (uintptr_t)bytes % 64));
}

Test(arena_resize, to_and_from_zero_keeps_an_address)
{
    char *bytes = haft_arena_alloc(arena, 100);

    cr_expect(eq(ptr, haft_arena_resize(arena, bytes, 100, 0, 16), bytes));
    cr_expect(ne(ptr, haft_arena_alloc_aligned(arena, 0, 1), bytes));
    cr_expect(ne(ptr, haft_arena_resize(arena, bytes, 0, 50, 16), NULL));
}

Test(arena_resize, that_cannot_be_is_NULL_and_leaves_it_as_it_was)
{
    haft_arena *made = open_arena(&(haft_arena_options){.block_size = 1000, .fixed = true});
    char *text = haft_arena_strdup(made, "as it was");
    const haft_arena_stats before = haft_arena_stats_get(made);

    cr_expect(eq(ptr, haft_arena_resize(made, text, 10, 1001, 1), NULL));
    cr_expect(eq(ptr, haft_arena_resize(made, text, 10, SIZE_MAX, 1), NULL));
    cr_expect(eq(str, text, "as it was"));
    const haft_arena_stats after = haft_arena_stats_get(made);

    cr_expect(zero(int, memcmp(&before, &after, sizeof before)));
    haft_arena_close(made);
}

Test(arena_blocks, sizes_that_grow_from_reset_to_reset_leave_no_trail_of_blocks)
{
    haft_arena *made = open_arena(&(haft_arena_options){.block_size = 4096});
    size_t size = 10000;

    for (int i = 0; i < 1000; i++) {
        size += 32;
        must(haft_arena_alloc(made, size) != NULL);
        must(haft_arena_alloc(made, 2 * size) != NULL);
        haft_arena_reset(made);
    }
    cr_expect(lt(sz, haft_arena_stats_get(made).capacity, 4 * size + 3 * 4096));
    const size_t redzones = under_asan() ? 2 * 16 : 0; /* of two allocations */

    cr_expect(eq(sz, haft_arena_stats_get(made).high_water, 3 * size + redzones));
    haft_arena_close(made);
    expect_no_leaks();
}

/* What arenas give back: marks, reset, clean-up; strings; the allocator struct. */
#include "tests/arena/arena_support.h"
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

static haft_arena *arena;

static void open_small(void)
{
    arena = open_arena(&(haft_arena_options){.block_size = 1024, .max_block_size = 1024});
}

static void close_small(void)
{
    haft_arena_close(arena);
}

TestSuite(arena_rewind, .timeout = SUITE_SECONDS, .init = open_small, .fini = close_small);
TestSuite(arena_reset, .timeout = SUITE_SECONDS, .init = open_small, .fini = close_small);
TestSuite(arena_clean_up, .timeout = SUITE_SECONDS);
TestSuite(arena_text, .timeout = SUITE_SECONDS, .init = open_small, .fini = close_small);
TestSuite(allocator, .timeout = SUITE_SECONDS, .init = open_small, .fini = close_small);

static size_t used(void)
{
    return haft_arena_stats_get(arena).used;
}

/* --- marks --- */

Test(arena_rewind, gives_back_what_came_after_the_mark_and_keeps_what_was_before)
{
    char *before = haft_arena_strdup(arena, "before");
    const size_t at_mark = used();
    const haft_mark mark = haft_arena_mark(arena);
    char *after = haft_arena_strdup(arena, "after");

    haft_arena_rewind(arena, mark);
    cr_expect(eq(sz, used(), at_mark));
    cr_expect(eq(str, before, "before"));
    cr_expect(eq(ptr, haft_arena_strdup(arena, "again"), after));
}

Test(arena_rewind, goes_back_over_blocks_and_blocks_of_their_own)
{
    char *large = haft_arena_alloc(arena, 5000);

    memset(large, 1, 5000);
    const haft_mark mark = haft_arena_mark(arena);
    const size_t at_mark = used();

    for (int i = 0; i < 100; i++) {
        memset(haft_arena_alloc(arena, i % 7 == 0 ? 5000 : 300), 2, 300);
    }
    const size_t capacity = haft_arena_stats_get(arena).capacity;

    haft_arena_rewind(arena, mark);
    cr_expect(eq(sz, used(), at_mark));
    for (int i = 0; i < 5000; i++) {
        must(large[i] == 1);
    }
    for (int i = 0; i < 100; i++) {
        haft_arena_alloc(arena, i % 7 == 0 ? 5000 : 300);
    }
    cr_expect(eq(sz, haft_arena_stats_get(arena).capacity, capacity));
}

Test(arena_rewind, marks_nest_and_may_be_used_again)
{
    const haft_mark outer = haft_arena_mark(arena);
    char *a = haft_arena_alloc(arena, 700);
    const haft_mark inner = haft_arena_mark(arena);
    char *b = haft_arena_alloc(arena, 700);

    haft_arena_rewind(arena, inner);
    cr_expect(eq(ptr, haft_arena_alloc(arena, 700), b));
    haft_arena_rewind(arena, inner);
    haft_arena_rewind(arena, outer);
    cr_expect(eq(sz, used(), 0));
    cr_expect(eq(ptr, haft_arena_alloc(arena, 700), a));
    haft_arena_rewind(arena, outer);
    cr_expect(eq(sz, used(), 0));
}

Test(arena_rewind, what_grew_since_falls_back_to_its_old_size)
{
    char *text = haft_arena_strdup(arena, "short");
    const haft_mark mark = haft_arena_mark(arena);
    const size_t at_mark = used();

    cr_expect(eq(ptr, haft_arena_resize(arena, text, 6, 500, 1), text));
    haft_arena_rewind(arena, mark);
    cr_expect(eq(sz, used(), at_mark));
    cr_expect(eq(str, text, "short"));
}

Test(arena_rewind, what_moved_since_is_in_its_old_place_again)
{
    char *chained = haft_arena_strdup(arena, "short");
    char *own = haft_arena_alloc_zeroed(arena, 1, 2000);

    haft_arena_alloc(arena, 1);
    const haft_mark mark = haft_arena_mark(arena);

    for (int i = 0; i < 2; i++) {
        cr_expect(ne(ptr, haft_arena_resize(arena, chained, 6, 900, 1), chained));
        cr_expect(ne(ptr, haft_arena_resize(arena, own, 2000, 3000, 16), own));
        haft_arena_rewind(arena, mark);
        cr_expect(eq(str, chained, "short"));
        cr_expect(eq(int, own[1999], 0));
    }
}

Test(arena_rewind, what_shrank_and_grew_has_its_old_size_again)
{
    char *memory = haft_arena_alloc(arena, 38);

    memset(memory, 'x', 38);
    const haft_mark mark = haft_arena_mark(arena);
    char *shrunk = haft_arena_resize(arena, memory, 38, 5, 16);

    cr_expect(eq(ptr, shrunk, memory));
    cr_expect(ne(ptr, haft_arena_resize(arena, shrunk, 5, 100, 16), memory));
    haft_arena_rewind(arena, mark);
    memset(memory, 'y', 38); /* AddressSanitizer: may be written */
}

Test(arena_rewind, no_shrinking_or_freeing_below_the_mark)
{
    char *bytes = haft_arena_alloc(arena, 500);
    const haft_mark mark = haft_arena_mark(arena);
    const size_t at_mark = used();
    const haft_allocator from = haft_arena_allocator(arena);

    cr_expect(eq(ptr, haft_arena_resize(arena, bytes, 500, 10, 16), bytes));
    cr_expect(eq(sz, used(), at_mark));
    char *later = haft_arena_alloc_aligned(arena, 1, 1);

    cr_expect(later >= bytes + 500);
    haft_arena_rewind(arena, mark);
    cr_expect(eq(sz, used(), at_mark));
    from.free(from.context, haft_arena_alloc(arena, 10), 10);
    from.free(from.context, bytes, 10);
    cr_expect(ge(sz, used(), at_mark));
}

/* --- reset --- */

Test(arena_reset, gives_everything_back_and_remembers_the_most)
{
    char *first = haft_arena_alloc(arena, 500);

    haft_arena_alloc(arena, 5000);
    haft_arena_alloc(arena, 900);
    const haft_arena_stats full = haft_arena_stats_get(arena);

    haft_arena_reset(arena);
    const haft_arena_stats empty = haft_arena_stats_get(arena);

    cr_expect(ge(sz, full.used, 6400));
    cr_expect(eq(sz, full.high_water, full.used));
    cr_expect(eq(sz, empty.used, 0));
    cr_expect(eq(sz, empty.high_water, full.used));
    cr_expect(eq(sz, empty.capacity, full.capacity));
    cr_expect(eq(ptr, haft_arena_alloc(arena, 500), first));
}

Test(arena_reset, of_an_empty_arena_changes_nothing)
{
    haft_arena_reset(arena);
    haft_arena_reset(arena);
    cr_expect(eq(sz, used(), 0));
    cr_expect(eq(sz, haft_arena_stats_get(arena).high_water, 0));
}

/* --- clean-up --- */

static char notes[100]; /* of those that ran */

static void note(void *arg)
{
    strcat(notes, arg);
}

static haft_arena *noting(void)
{
    haft_arena *made = open_arena(&(haft_arena_options){.block_size = 1024});

    notes[0] = '\0';
    assert_status(haft_arena_on_reset(made, note, "a"), HAFT_OK);
    assert_status(haft_arena_on_reset(made, note, "b"), HAFT_OK);
    return made;
}

Test(arena_clean_up, runs_on_reset_last_registered_first_and_once)
{
    haft_arena *made = noting();

    haft_arena_reset(made);
    cr_expect(eq(str, notes, "ba"));
    haft_arena_reset(made);
    haft_arena_close(made);
    cr_expect(eq(str, notes, "ba"));
}

Test(arena_clean_up, runs_on_close)
{
    haft_arena_close(noting());
    cr_expect(eq(str, notes, "ba"));
    expect_no_leaks();
}

Test(arena_clean_up, runs_on_rewind_if_registered_since_the_mark)
{
    haft_arena *made = noting();
    const haft_mark mark = haft_arena_mark(made);

    assert_status(haft_arena_on_reset(made, note, "c"), HAFT_OK);
    haft_arena_rewind(made, mark);
    cr_expect(eq(str, notes, "c"));
    haft_arena_rewind(made, mark);
    cr_expect(eq(str, notes, "c"));
    haft_arena_close(made);
    cr_expect(eq(str, notes, "cba"));
}

Test(arena_clean_up, sees_what_was_allocated_before)
{
    AT_END(arena_end) haft_arena *made = noting();
    char *text = haft_arena_strdup(made, "c");

    assert_status(haft_arena_on_reset(made, note, text), HAFT_OK);
    haft_arena_alloc(made, 3000); /* the next block */
    haft_arena_reset(made);
    cr_expect(eq(str, notes, "cba"));
}

static void note_and_register(void *arg)
{
    haft_arena *made = arg;

    strcat(notes, "d");
    must(haft_arena_alloc(made, 100) != NULL);
    must(haft_arena_on_reset(made, note, "e") == HAFT_OK);
}

Test(arena_clean_up, may_allocate_and_register)
{
    AT_END(arena_end) haft_arena *made = noting();

    assert_status(haft_arena_on_reset(made, note_and_register, made), HAFT_OK);
    haft_arena_reset(made);
    cr_expect(eq(str, notes, "deba"));
    cr_expect(eq(sz, haft_arena_stats_get(made).used, 0));
}

Test(arena_clean_up, NULL_is_nothing_to_do)
{
    AT_END(arena_end) haft_arena *made = open_arena(&(haft_arena_options){.block_size = 1024});

    expect_status(haft_arena_on_reset(made, NULL, made), HAFT_OK);
    cr_expect(eq(sz, haft_arena_stats_get(made).used, 0));
}

Test(arena_clean_up, without_room_nothing_is_registered)
{
    haft_arena *made = open_arena(&(haft_arena_options){.block_size = 8, .fixed = true});

    notes[0] = '\0';
    expect_status(haft_arena_on_reset(made, note, "a"), HAFT_NO_MEMORY);
    haft_arena_close(made);
    cr_expect(eq(str, notes, ""));
}

/* --- text --- */

Test(arena_text, copies_are_equal_and_not_the_same)
{
    const double numbers[2] = {1, 2};
    char text[] = "a line of text";
    double *copy = haft_arena_copy(arena, numbers, sizeof numbers);
    char *whole = haft_arena_strdup(arena, text);
    char *part = haft_arena_strndup(arena, text, 6);
    char *more = haft_arena_strndup(arena, text, 100);

    memset(text, 'x', sizeof text - 1);
    cr_expect(copy[0] == 1 && copy[1] == 2);
    cr_expect(zero(sz, (uintptr_t)copy % HAFT_ARENA_ALIGNMENT));
    cr_expect(eq(str, whole, "a line of text"));
    cr_expect(eq(str, part, "a line"));
    cr_expect(eq(str, more, "a line of text"));
    cr_expect(eq(str, haft_arena_strdup(arena, ""), ""));
    cr_expect(ne(ptr, haft_arena_copy(arena, NULL, 0), NULL));
}

Test(arena_text, strndup_reads_no_further_than_it_may)
{
    const char two[2] = {'a', 'b'};

    cr_expect(eq(str, haft_arena_strndup(arena, two, 2), "ab"));
}

Test(arena_text, printf_takes_what_the_string_needs)
{
    const size_t before = used();
    char *text = haft_arena_printf(arena, "%s is %d", "life", 42);

    cr_expect(eq(str, text, "life is 42"));
    cr_expect(eq(sz, used() - before, under_asan() ? 32 : 11));
    cr_expect(eq(str, haft_arena_printf(arena, "(%s)", text), "(life is 42)"));
    cr_expect(eq(str, text, "life is 42"));
}

Test(arena_text, printf_fits_at_every_distance_from_the_blocks_end)
{
    for (size_t left = 0; left < 64; left++) {
        haft_arena_reset(arena);
        haft_arena_alloc_aligned(arena, 1024 - 16 - left, 1);
        cr_expect(
            eq(str, haft_arena_printf(arena, "%s %d", "sixteen or", 12345), "sixteen or 12345"));
        haft_arena_printf(arena, "%*s", 2000, "");
    }
}

Test(arena_text, printf_to_the_last_byte_stays_in_its_block)
{
    char buffer[1024];
    const size_t redzones = under_asan() ? 64 : 0;
    AT_END(arena_end)
    haft_arena *made = open_arena(
        &(haft_arena_options){.buffer = buffer, .buffer_size = sizeof buffer, .fixed = true});
    const size_t capacity = haft_arena_stats_get(made).capacity / 16 * 16 - redzones;

    haft_arena_alloc_aligned(made, capacity - 16, 1);
    char *text = haft_arena_printf(made, "%s", "fifteen letters");

    cr_expect(eq(str, text, "fifteen letters"));
}

/* POSIX lets vsnprintf() refuse it. */
Test(arena_text, printf_takes_a_room_of_more_bytes_than_an_int_has)
{
    const size_t size = (size_t)INT_MAX + 4096;

    need_wide_addresses();
    if (under_asan()) {
        cr_skip_test("its shadow would be written");
    }
    void *buffer = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    must(buffer != MAP_FAILED);
    haft_arena *made =
        open_arena(&(haft_arena_options){.buffer = buffer, .buffer_size = size, .fixed = true});

    cr_expect(eq(str, haft_arena_printf(made, "%d ships", 7), "7 ships"));
    haft_arena_close(made);
    munmap(buffer, size);
}

Test(arena_text, printf_without_room_is_NULL_and_changes_nothing)
{
    haft_arena *made = open_arena(&(haft_arena_options){.block_size = 100, .fixed = true});
    char *before = haft_arena_strdup(made, "before");
    const size_t was = haft_arena_stats_get(made).used;

    cr_expect(eq(ptr, haft_arena_printf(made, "%*s", 200, ""), NULL));
    cr_expect(eq(ptr, haft_arena_printf(made, "%lc", (wint_t)0xd800), NULL)); /* no character */
    cr_expect(eq(sz, haft_arena_stats_get(made).used, was));
    cr_expect(eq(str, before, "before"));
    haft_arena_close(made);
}

Test(arena_text, copies_without_room_are_NULL_and_change_nothing)
{
    haft_arena *made = open_arena(&(haft_arena_options){.block_size = 100, .fixed = true});
    const char bytes[200] = "longer than the arena";
    char text[200];
    const size_t was = haft_arena_stats_get(made).used;

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    cr_expect(eq(ptr, haft_arena_copy(made, bytes, sizeof bytes), NULL));
    cr_expect(eq(ptr, haft_arena_strdup(made, text), NULL));
    cr_expect(eq(sz, haft_arena_stats_get(made).used, was));
    haft_arena_close(made);
}

/* --- the allocator struct --- */

static void keep_contract(haft_allocator from)
{
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        char *bytes = from.alloc(from.context, 10, alignment);

        cr_assert(ne(ptr, bytes, NULL));
        memset(bytes, 5, 10);
        bytes = from.resize(from.context, bytes, 10, 3000, alignment);
        cr_assert(ne(ptr, bytes, NULL));
        cr_expect(zero(sz, (uintptr_t)bytes % alignment));
        for (int i = 0; i < 10; i++) {
            must(bytes[i] == 5);
        }
        bytes = from.resize(from.context, bytes, 3000, 4, alignment);
        cr_expect(zero(sz, (uintptr_t)bytes % alignment));
        must(bytes[0] == 5 && bytes[3] == 5);
        cr_expect(eq(ptr, from.resize(from.context, bytes, 4, SIZE_MAX - 1, alignment), NULL));
        must(bytes[0] == 5 && bytes[3] == 5);
        bytes = from.resize(from.context, bytes, 4, 0, alignment);
        cr_assert(ne(ptr, bytes, NULL));
        from.free(from.context, bytes, 0);
    }
    void *nothing = from.alloc(from.context, 0, 1);
    void *fresh = from.resize(from.context, NULL, 0, 10, 8);

    cr_expect(ne(ptr, nothing, NULL));
    cr_expect(ne(ptr, nothing, fresh));
    from.free(from.context, nothing, 0);
    from.free(from.context, fresh, 10);
    from.free(from.context, NULL, 0);
    cr_expect(eq(ptr, from.alloc(from.context, 1, 3), NULL));
    cr_expect(eq(ptr, from.alloc(from.context, SIZE_MAX, 64), NULL));
}

Test(allocator, malloc_keeps_the_contract)
{
    keep_contract(haft_allocator_malloc());
    expect_no_leaks();
}

Test(allocator, an_arena_keeps_the_contract)
{
    keep_contract(haft_arena_allocator(arena));
}

Test(allocator, an_arenas_free_gives_back_the_last_allocation_alone)
{
    const haft_allocator from = haft_arena_allocator(arena);
    void *a = from.alloc(from.context, 96, 16);
    const size_t before = used();
    void *b = from.alloc(from.context, 96, 16);

    from.free(from.context, b, 96);
    cr_expect(eq(sz, used(), before));
    b = from.alloc(from.context, 96, 16);
    const size_t full = used();

    from.free(from.context, a, 96);
    cr_expect(eq(sz, used(), full));
}

Test(allocator, an_arena_may_take_its_blocks_from_an_arena)
{
    const haft_allocator from = haft_arena_allocator(arena);
    haft_arena *inner = open_arena(&(haft_arena_options){.block_size = 256, .allocator = &from});

    for (int i = 0; i < 100; i++) {
        memset(haft_arena_alloc(inner, 100), i, 100);
    }
    haft_arena_close(inner);
}

Test(allocator, sizes_and_alignments_that_nothing_can_have_are_refused)
{
    const haft_allocator of_malloc = haft_allocator_malloc();
    const haft_allocator of_arena = haft_arena_allocator(arena);
    char *bytes = of_malloc.alloc(NULL, 10, 1);

    cr_expect(eq(ptr, of_malloc.alloc(NULL, 10, 0), NULL));
    cr_expect(eq(ptr, of_malloc.resize(NULL, bytes, 10, 20, 0), NULL));
    cr_expect(eq(ptr, of_malloc.alloc(NULL, 10, 3), NULL));
    cr_expect(eq(ptr, of_malloc.resize(NULL, bytes, 10, 20, 3), NULL));
    of_malloc.free(NULL, bytes, 10);
    bytes = of_arena.alloc(of_arena.context, 10, 1);
    const size_t before = used();

    cr_expect(eq(ptr, of_arena.resize(of_arena.context, bytes, SIZE_MAX, 10, 1), NULL));
    of_arena.free(of_arena.context, bytes, SIZE_MAX);
    cr_expect(eq(sz, used(), before));
}

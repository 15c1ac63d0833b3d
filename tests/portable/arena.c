/* Arenas and allocators. */
#include "portable.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static haft_arena *open_arena(void)
{
    const haft_arena_options options = {.block_size = 4096};
    haft_arena *arena = NULL;

    CHECK_OK(haft_arena_open(&options, &arena));
    return arena;
}

static void test_allocations(enum circumstance circumstance)
{
    haft_arena *arena = open_arena();
    char *first = haft_arena_alloc(arena, 100);
    unsigned char *zeroed = haft_arena_alloc_zeroed(arena, 10, 10);
    char *far = haft_arena_alloc_aligned(arena, 10, 4096);

    (void)circumstance;
    CHECK(first != NULL && (uintptr_t)first % HAFT_ARENA_ALIGNMENT == 0);
    CHECK(zeroed != NULL && zeroed[0] == 0 && zeroed[99] == 0);
    CHECK(far != NULL && (uintptr_t)far % 4096 == 0);
    CHECK(haft_arena_alloc_array(arena, SIZE_MAX, 2) == NULL);
    uint32_t *numbers = haft_arena_alloc_array(arena, 4, sizeof *numbers);

    numbers[3] = 33;
    numbers = haft_arena_resize_array(arena, numbers, 4, 2000, sizeof *numbers, 4);
    CHECK(numbers != NULL && numbers[3] == 33);
    first = haft_arena_resize(arena, first, 100, 200, 16);
    CHECK(first != NULL);
    CHECK(haft_arena_stats_get(arena).used >= 8310);
    haft_arena_close(arena);
}

static char *format(haft_arena *arena, const char *said, ...)
{
    va_list arguments;

    va_start(arguments, said);
    char *text = haft_arena_vprintf(arena, said, arguments);

    va_end(arguments);
    return text;
}

static void test_texts(enum circumstance circumstance)
{
    haft_arena *arena = open_arena();

    (void)circumstance;
    CHECK(strcmp(haft_arena_strdup(arena, "haft"), "haft") == 0);
    CHECK(strcmp(haft_arena_strndup(arena, "haft", 2), "ha") == 0);
    CHECK(strcmp(haft_arena_printf(arena, "%d of %d", 1, 2), "1 of 2") == 0);
    CHECK(strcmp(format(arena, "%s", "blade"), "blade") == 0);
    CHECK(memcmp(haft_arena_copy(arena, "abc", 3), "abc", 3) == 0);
    haft_arena_close(arena);
}

static void count_up(void *arg)
{
    ++*(uint64_t *)arg;
}

static void test_marks(enum circumstance circumstance)
{
    haft_arena *arena = open_arena();
    uint64_t cleaned = 0;

    (void)circumstance;
    CHECK(haft_arena_alloc(arena, 10) != NULL);
    const haft_mark mark = haft_arena_mark(arena);
    const size_t used = haft_arena_stats_get(arena).used;

    CHECK_OK(haft_arena_on_reset(arena, count_up, &cleaned));
    for (int i = 0; i < 100; i++) {
        CHECK(haft_arena_alloc(arena, 1000) != NULL);
    }
    haft_arena_rewind(arena, mark);
    CHECK(cleaned == 1 && haft_arena_stats_get(arena).used == used);
    const size_t capacity = haft_arena_stats_get(arena).capacity;

    haft_arena_trim(arena);
    CHECK(haft_arena_stats_get(arena).capacity < capacity);
    CHECK_OK(haft_arena_on_reset(arena, count_up, &cleaned));
    haft_arena_reset(arena);
    CHECK(cleaned == 2 && haft_arena_stats_get(arena).high_water >= 100000);
    haft_arena_close(arena);
    CHECK(cleaned == 2);
}

static void try_heap(haft_allocator heap, size_t alignment)
{
    char *bytes = heap.alloc(heap.context, 100, alignment);

    if (CHECK(bytes != NULL && (uintptr_t)bytes % alignment == 0)) {
        bytes[99] = 9;
        bytes = heap.resize(heap.context, bytes, 100, 1000, alignment);
        CHECK(bytes != NULL && bytes[99] == 9);
        heap.free(heap.context, bytes, 1000);
    }
}

static void test_allocator(enum circumstance circumstance)
{
    haft_arena *arena = NULL;
    char buffer[1024];
    const haft_arena_options options = {
        .fixed = true, .buffer = buffer, .buffer_size = sizeof buffer};
    const haft_arena_options small = {.fixed = true, .buffer = buffer, .buffer_size = 8};
    const haft_allocator heap = haft_allocator_malloc();

    (void)circumstance;
    CHECK(haft_arena_open(&small, &arena) == HAFT_BAD_BUFFER_SIZE);
    CHECK(strcmp(haft_status_name(HAFT_BAD_BUFFER_SIZE), "HAFT_BAD_BUFFER_SIZE") == 0);
    CHECK_OK(haft_arena_open_sized(&options, sizeof options, &arena));
    const haft_allocator inside = haft_arena_allocator(arena);
    char *bytes = inside.alloc(inside.context, 100, 16);

    CHECK(bytes >= buffer && bytes < buffer + sizeof buffer);
    CHECK(inside.alloc(inside.context, 5000, 16) == NULL);
    inside.free(inside.context, bytes, 100);
    haft_arena_close(arena);
    for (size_t alignment = 1; alignment <= 4096; alignment *= 8) {
        try_heap(heap, alignment);
    }
}

const struct test arena_tests[] = {
    {"arena", "allocations", IN_SINGLE, test_allocations},
    {"arena", "texts", IN_SINGLE, test_texts},
    {"arena", "marks, clean-up, trim", IN_SINGLE, test_marks},
    {"arena", "a fixed buffer, allocators", IN_SINGLE, test_allocator},
    {NULL, NULL, 0, NULL},
};

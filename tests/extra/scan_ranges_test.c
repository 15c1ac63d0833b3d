/* Dividing a table among workers, and fresh slots, whose memory a scan leaves alone. */
#include "tests/support.h"
#include <haft/scan.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(ranges, .timeout = SUITE_SECONDS);
TestSuite(used, .timeout = SUITE_SECONDS);
TestSuite(fresh, .timeout = SUITE_SECONDS);

#define PAGE 4096u
#define PARTS 16
#define MANY 100000

static const haft_table_options options = {.capacity = MANY, .object_size = 24};

static struct shared open_with(const haft_table_options *table, int count)
{
    struct shared shared = open_shared(MEMB_CALLER, table);

    for (int i = 0; i < count; i++) {
        insert(shared.worker);
    }
    return shared;
}

/* Objects that a scan of `range` meets. */
static uint64_t objects_in(const struct shared *shared, haft_range range)
{
    haft_cursor cursor = haft_cursor_over(shared->table, range);
    haft_id id;
    void *object;
    uint64_t count = 0;

    haft_section_begin(shared->domain);
    while (haft_cursor_next(&cursor, &id, &object)) {
        count++;
    }
    haft_section_end(shared->domain);
    return count;
}

/* One after another from the first slot on, with `count` objects in all, none twice. */
static void expect_division(const struct shared *shared, const haft_range *ranges, size_t parts,
                            uint64_t count)
{
    uint64_t objects = 0;

    cr_expect(le(u64, ranges[0].from, HAFT_FIRST_INDEX));
    for (size_t i = 0; i < parts; i++) {
        cr_expect(le(u64, ranges[i].from, ranges[i].to));
        cr_expect(i == 0 || ranges[i].from == ranges[i - 1].to);
        objects += objects_in(shared, ranges[i]);
    }
    cr_expect(eq(u64, objects, count));
}

Test(ranges, follow_one_another_and_cover_all_that_is_live)
{
    struct shared shared = open_with(&options, MANY);
    haft_range ranges[PARTS];

    for (size_t parts = 1; parts <= PARTS; parts++) {
        haft_scan_ranges(shared.table, ranges, parts);
        expect_division(&shared, ranges, parts, MANY);
    }
    close_shared(&shared);
}

Test(ranges, have_equally_many_used_slots_but_for_rounding)
{
    struct shared shared = open_with(&options, MANY);
    haft_range ranges[PARTS];

    haft_scan_ranges(shared.table, ranges, PARTS);
    for (int i = 0; i < PARTS; i++) {
        cr_expect(ge(u64, objects_in(&shared, ranges[i]), MANY / PARTS - PAGE / 32));
        cr_expect(le(u64, objects_in(&shared, ranges[i]), MANY / PARTS + PAGE / 32));
    }
    close_shared(&shared);
}

Test(ranges, do_not_count_fresh_slots_in_workers_hands)
{
    /* Two extents of 2048 slots, one of them nearly all fresh: first that, then the other. */
    struct shared shared = open_with(&options, 1);
    haft_worker *other = open_worker(shared.table);
    haft_range ranges[2];

    for (int i = 0; i < 2100; i++) {
        insert(other);
    }
    haft_scan_ranges(shared.table, ranges, 2);
    expect_division(&shared, ranges, 2, 2101);
    /* The first worker's batch of 124 slots counts as used, and is nearly all without objects. */
    cr_expect(ge(u64, objects_in(&shared, ranges[0]), 1000));
    cr_expect(ge(u64, objects_in(&shared, ranges[1]), 1040));
    expect_status(haft_worker_close(other), HAFT_OK);
    close_shared(&shared);
}

/* Whether the slot's word begins where a block of `bytes` does, but for the object's alignment. */
static bool begins_block(const struct shared *shared, uint64_t index, uint64_t bytes,
                         uint64_t alignment)
{
    const uint64_t at =
        (uint64_t)(uintptr_t)shared->view.base + index * shared->view.stride - (alignment - 8);

    return at % bytes == 0;
}

static void expect_blocks(size_t object_size, size_t alignment, int count, uint64_t bytes)
{
    const haft_table_options sized = {
        .capacity = MANY, .object_size = object_size, .object_alignment = alignment};
    struct shared shared = open_with(&sized, count);
    haft_range ranges[PARTS];

    haft_scan_ranges(shared.table, ranges, PARTS);
    expect_division(&shared, ranges, PARTS, (uint64_t)count);
    for (int i = 1; i < PARTS; i++) {
        cr_expect(begins_block(&shared, ranges[i].from, bytes, alignment));
        cr_expect(gt(u64, objects_in(&shared, ranges[i]), 0));
    }
    close_shared(&shared);
}

Test(ranges, of_many_slots_meet_where_a_page_begins)
{
    expect_blocks(24, 8, MANY, PAGE);
    expect_blocks(0, 8, MANY, PAGE);
    expect_blocks(32, 8, MANY, PAGE);          /* 40 bytes a slot: 512 slots are five pages */
    expect_blocks(32, 8, 61 * 1664 - 4, PAGE); /* live to the end of an extent, within such five */
    expect_blocks(128, 64, 20000, PAGE);
    expect_blocks(4088, 8, 2000, PAGE);
}

Test(ranges, of_few_slots_meet_where_a_cache_line_begins)
{
    expect_blocks(24, 8, 400, 64);
    expect_blocks(0, 8, 400, 64);
    expect_blocks(32, 8, 400, 64);
}

Test(ranges, more_than_there_are_cache_lines_are_empty)
{
    struct shared shared = open_with(&options, 3);
    haft_range ranges[1000];

    haft_scan_ranges(shared.table, ranges, 1000);
    expect_division(&shared, ranges, 1000, 3);
    close_shared(&shared);
}

Test(ranges, of_an_empty_table_are_empty)
{
    struct shared shared = open_with(&options, 0);
    haft_range ranges[3] = {{1, 2}, {1, 2}, {1, 2}};

    haft_scan_ranges(shared.table, ranges, 3);
    expect_division(&shared, ranges, 3, 0);
    cr_expect(eq(u64, ranges[2].to, HAFT_FIRST_INDEX));
    close_shared(&shared);
}

Test(ranges, none_wanted_none_written)
{
    struct shared shared = open_with(&options, 100);
    haft_range range = {17, 19};

    haft_scan_ranges(shared.table, &range, 0);
    cr_expect(eq(u64, range.from, 17));
    cr_expect(eq(u64, range.to, 19));
    close_shared(&shared);
}

Test(ranges, leave_slots_first_used_later_out)
{
    struct shared shared = open_with(&options, 100);
    haft_range ranges[2];

    haft_scan_ranges(shared.table, ranges, 2);
    for (int i = 0; i < 10000; i++) {
        insert(shared.worker);
    }
    cr_expect(ge(u64, objects_in(&shared, ranges[0]) + objects_in(&shared, ranges[1]), 100));
    cr_expect(lt(u64, objects_in(&shared, ranges[0]) + objects_in(&shared, ranges[1]), 2048));
    close_shared(&shared);
}

/* --- used slots --- */

Test(used, of_an_empty_table_is_empty)
{
    struct shared shared = open_with(&options, 0);
    const haft_range used = haft_used_range(shared.table, HAFT_EVERYTHING);

    cr_expect(eq(u64, used.from, used.to));
    close_shared(&shared);
}

Test(used, stretches_end_where_a_workers_fresh_slots_begin)
{
    struct shared shared = open_with(&options, 1);
    haft_worker *other = open_worker(shared.table);
    const haft_id id = insert(other); /* the first of the second extent */
    const haft_range first = haft_used_range(shared.table, HAFT_EVERYTHING);
    const haft_range second = haft_used_range(shared.table, HAFT_RANGE(first.to, UINT64_MAX));
    const haft_range third = haft_used_range(shared.table, HAFT_RANGE(second.to, UINT64_MAX));

    cr_expect(eq(u64, first.from, HAFT_FIRST_INDEX));
    cr_expect(le(u64, first.to, HAFT_FIRST_INDEX + 128));
    cr_expect(eq(u64, second.from, haft_id_index(HAFT_LAYOUT_32_32, id)));
    cr_expect(le(u64, second.to, second.from + 128));
    cr_expect(eq(u64, third.from, third.to));
    cr_expect(gt(u64, second.from, first.to + 1000));
    expect_status(haft_worker_close(other), HAFT_OK);
    close_shared(&shared);
}

Test(used, keeps_within_the_range)
{
    struct shared shared = open_with(&options, 1000);
    const haft_range middle = haft_used_range(shared.table, HAFT_RANGE(100, 200));
    const haft_range none = haft_used_range(shared.table, HAFT_RANGE(200, 100));
    const haft_range beyond = haft_used_range(shared.table, HAFT_RANGE(90000, 99999));

    cr_expect(eq(u64, middle.from, 100));
    cr_expect(eq(u64, middle.to, 200));
    cr_expect(eq(u64, none.from, none.to));
    cr_expect(eq(u64, beyond.from, beyond.to));
    close_shared(&shared);
}

/* --- memory --- */

/* Pages of the slots that the process has in its page table, those of zeros too. */
static uint64_t pages_mapped(const struct shared *shared, uint64_t slots)
{
    const uint64_t pages = slots * shared->view.stride / PAGE;
    unsigned char *mapped = malloc(pages);
    uint64_t count = 0;

    cr_assert(zero(int, mincore(shared->view.base, pages * PAGE, mapped)));
    for (uint64_t i = 0; i < pages; i++) {
        count += mapped[i] & 1;
    }
    free(mapped);
    return count;
}

/* A slot for each page; two workers with an extent each and an object each. */
static void expect_untouched(uint64_t (*look)(const struct shared *shared))
{
    const haft_table_options paged = {.capacity = MANY, .object_size = PAGE - 8};
    struct shared shared = open_with(&paged, 1);
    haft_worker *other = open_worker(shared.table);

    insert(other);
    cr_expect(le(u64, pages_mapped(&shared, MANY), 8));
    cr_expect(eq(u64, look(&shared), 2));
    cr_expect(le(u64, pages_mapped(&shared, MANY), 8 + 2 * 128));
    expect_status(haft_worker_close(other), HAFT_OK);
    close_shared(&shared);
}

static uint64_t look_at_everything(const struct shared *shared)
{
    return objects_in(shared, HAFT_EVERYTHING);
}

static uint64_t look_at_parts(const struct shared *shared)
{
    haft_range ranges[PARTS];
    uint64_t count = 0;

    haft_scan_ranges(shared->table, ranges, PARTS);
    for (int i = 0; i < PARTS; i++) {
        count += objects_in(shared, ranges[i]);
    }
    return count;
}

static uint64_t look_from_within_extents(const struct shared *shared)
{
    const uint64_t second = haft_used_range(shared->table, HAFT_RANGE(1000, UINT64_MAX)).from;

    return objects_in(shared, HAFT_RANGE(1000, second)) + objects_in(shared, HAFT_RANGE(0, 1000)) +
           objects_in(shared, HAFT_RANGE(second, UINT64_MAX));
}

static bool count_visit(haft_id id, void *object, void *arg)
{
    (void)id;
    (void)object;
    ++*(uint64_t *)arg;
    return true;
}

static uint64_t look_by_visitor(const struct shared *shared)
{
    uint64_t visits = 0;

    haft_section_begin(shared->domain);
    haft_scan(shared->table, HAFT_EVERYTHING, count_visit, &visits);
    haft_section_end(shared->domain);
    return visits;
}

Test(fresh, slots_are_skipped_by_a_cursor_without_touching_their_memory)
{
    expect_untouched(look_at_everything);
}

Test(fresh, slots_are_skipped_by_a_divided_scan_without_touching_their_memory)
{
    expect_untouched(look_at_parts);
}

Test(fresh, slots_are_skipped_from_within_an_extent_without_touching_their_memory)
{
    expect_untouched(look_from_within_extents);
}

Test(fresh, slots_are_skipped_by_a_visited_scan_without_touching_their_memory)
{
    expect_untouched(look_by_visitor);
}

Test(fresh, slots_that_leave_an_extent_during_a_scan_do_no_harm)
{
    struct shared shared = open_with(&options, 1);
    haft_worker *other = open_worker(shared.table);

    insert(other);
    haft_section_begin(shared.domain);
    haft_cursor cursor = haft_cursor_over(shared.table, HAFT_EVERYTHING);
    haft_id id;
    void *object;
    uint64_t last = 0;
    int count = 0;

    while (haft_cursor_next(&cursor, &id, &object)) {
        cr_expect(lt(u64, last, haft_id_index(HAFT_LAYOUT_32_32, id)));
        last = haft_id_index(HAFT_LAYOUT_32_32, id);
        for (int i = 0; i < 10; i++) {
            insert(shared.worker);
            insert(other);
        }
        count++;
    }
    haft_section_end(shared.domain);
    cr_expect(ge(int, count, 2));
    expect_status(haft_worker_close(other), HAFT_OK);
    close_shared(&shared);
}

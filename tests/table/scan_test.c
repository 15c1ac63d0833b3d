/* Scans of a shared table: what is visited, whatever happens meanwhile. */
#include "tests/support.h"
#include <haft/memory.h>
#include <haft/scan.h>
#include <haft/share.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(scan, .timeout = SUITE_SECONDS);
TestSuite(cursor, .timeout = SUITE_SECONDS);
TestSuite(ranges, .timeout = SUITE_SECONDS);
TestSuite(used, .timeout = SUITE_SECONDS);
TestSuite(fresh, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 1000, .object_size = 16};

#define MOST 2048 /* more than a table of 1000 ever holds */

static haft_id ids[MOST];

/* Insert `count` objects; their ids in `ids`. */
static void fill(struct shared *shared, int count)
{
    for (int i = 0; i < count; i++) {
        ids[i] = insert(shared->worker);
    }
}

/* What a visitor does, and saw. */
struct visits {
    struct shared *shared;
    uint64_t count;
    uint64_t most;   /* the visit that ends the scan; 0: none does */
    bool frees_it;   /* each that it is given */
    bool frees_next; /* the one with the next index */
    bool inserts;
    uint8_t seen[2 * MOST];
};

static bool visit(haft_id id, void *object, void *arg)
{
    struct visits *visits = arg;
    struct shared *shared = visits->shared;
    const uint32_t index = haft_id_index(HAFT_LAYOUT_32_32, id);

    must(object == haft_resolve(shared->view, id));
    visits->seen[index]++;
    visits->count++;
    if (visits->frees_it) {
        must(haft_free(shared->worker, id) == HAFT_OK);
    }
    if (visits->frees_next) {
        const haft_id next = {haft_id_pack(HAFT_LAYOUT_32_32, index + 1, 1, 0).bits};

        haft_free(shared->worker, next);
    }
    if (visits->inserts) {
        haft_insert(shared->worker, NULL, &id);
    }
    return visits->count != visits->most;
}

/* Scan within a section. */
static void scan(struct visits *visits, haft_range range)
{
    struct shared *shared = visits->shared;
    const uint64_t before = visits->count;

    haft_section_begin(shared->domain);
    must(haft_scan(shared->table, range, visit, visits) == visits->count - before);
    haft_section_end(shared->domain);
}

/* The number of objects that a cursor gives. */
static int length_of(haft_cursor cursor)
{
    haft_id id;
    void *object;
    int count = 0;

    while (haft_cursor_next(&cursor, &id, &object)) {
        count++;
    }
    return count;
}

TEST_ON_EACH_CLOCK(scan, of_an_empty_table_visits_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct visits visits = {.shared = &shared};

    scan(&visits, HAFT_EVERYTHING);
    cr_expect(eq(u64, visits.count, 0));
}

TEST_ON_EACH_CLOCK(scan, with_all_slots_free_visits_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct visits visits = {.shared = &shared};

    fill(&shared, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_status(haft_free(shared.worker, ids[i]), HAFT_OK);
    }
    scan(&visits, HAFT_EVERYTHING);
    settle(shared.worker);
    scan(&visits, HAFT_EVERYTHING);
    cr_expect(eq(u64, visits.count, 0));
}

TEST_ON_EACH_CLOCK(scan, with_exactly_one_live_the_last_visits_it)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct visits visits = {.shared = &shared};
    uint64_t count = 0;
    int last = 0;

    while (haft_insert(shared.worker, NULL, &ids[count]) == HAFT_OK) {
        last = ids[count].bits > ids[last].bits ? (int)count : last;
        count++;
    }
    for (uint64_t i = 0; i < count; i++) {
        must((int)i == last || haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    cr_assert(eq(u64, haft_id_index(HAFT_LAYOUT_32_32, ids[last]) + 1,
                 stats_of(shared.table).limit + HAFT_FIRST_INDEX));
    scan(&visits, HAFT_EVERYTHING);
    cr_expect(eq(u64, visits.count, 1));
    cr_expect(eq(u8, visits.seen[haft_id_index(HAFT_LAYOUT_32_32, ids[last])], 1));
}

TEST_ON_EACH_CLOCK(scan, ends_when_the_visitor_says_so)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct visits visits = {.shared = &shared, .most = 7};

    fill(&shared, 100);
    scan(&visits, HAFT_EVERYTHING);
    cr_expect(eq(u64, visits.count, 7));
}

TEST_ON_EACH_CLOCK(scan, whose_visitor_frees_what_it_is_given_visits_all)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct visits visits = {.shared = &shared, .frees_it = true};

    fill(&shared, 1000);
    scan(&visits, HAFT_EVERYTHING);
    cr_expect(eq(u64, visits.count, 1000));
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    scan(&visits, HAFT_EVERYTHING);
    cr_expect(eq(u64, visits.count, 1000));
}

TEST_ON_EACH_CLOCK(scan, whose_visitor_frees_others_does_not_visit_these)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct visits visits = {.shared = &shared, .frees_next = true};

    fill(&shared, 1000);
    scan(&visits, HAFT_EVERYTHING);
    cr_expect(eq(u64, visits.count, 500));
    cr_expect(eq(u64, stats_of(shared.table).live, 500));
}

TEST_ON_EACH_CLOCK(scan, whose_visitor_inserts_comes_to_an_end)
{
    const haft_table_options large = {.capacity = 1000000};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &large);
    struct visits visits = {.shared = &shared, .inserts = true};

    fill(&shared, 10);
    scan(&visits, HAFT_EVERYTHING);
    cr_expect(ge(u64, visits.count, 10));
    cr_expect(lt(u64, visits.count, 2048 + 1)); /* one extent was in use */
    for (int i = 0; i < 10; i++) {
        cr_expect(eq(u8, visits.seen[haft_id_index(HAFT_LAYOUT_32_32, ids[i])], 1));
    }
}

TEST_ON_EACH_CLOCK(scan, visits_a_range_of_slots_alone)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct visits visits = {.shared = &shared};

    fill(&shared, 1000);
    scan(&visits, HAFT_RANGE(100, 200));
    cr_expect(eq(u64, visits.count, 100));
    for (int index = 0; index < MOST; index++) {
        cr_expect(eq(u8, visits.seen[index], index >= 100 && index < 200));
    }
}

TEST_ON_EACH_CLOCK(scan, visits_what_was_inserted_from_another_workers_extent)
{
    const haft_table_options tiny = {.capacity = 20};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &tiny);
    struct visits visits = {.shared = &shared};
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    uint64_t count = 0;

    insert(other); /* draws an extent, and leaves most of it */
    while (haft_insert(shared.worker, NULL, &ids[count]) == HAFT_OK) {
        count++;
    }
    scan(&visits, HAFT_EVERYTHING);
    cr_expect(eq(u64, visits.count, count + 1));
}

TEST_ON_EACH_CLOCK(scan, visits_what_a_local_table_brought_and_what_came_after)
{
    const haft_local_options local_options = {
        .capacity = 1000, .object_size = 16, .will_share = true};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct visits visits = {.shared = &shared};
    haft_local *local;

    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    assert_status(haft_table_close(shared.table), HAFT_OK);
    assert_status(haft_local_open(&local_options, &local), HAFT_OK);
    for (int i = 0; i < 600; i++) {
        must(haft_local_insert(local, NULL, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < 300; i++) {
        must(haft_local_free(local, ids[2 * i]) == HAFT_OK);
    }
    assert_status(haft_share(local, shared.domain, NULL, &shared.table), HAFT_OK);
    shared.worker = open_worker(shared.table);
    shared.view = haft_table_view(shared.table);
    for (int i = 0; i < 500; i++) {
        insert(shared.worker);
    }
    scan(&visits, HAFT_EVERYTHING);
    cr_expect(eq(u64, visits.count, 800));
    for (int i = 0; i < 300; i++) {
        must(visits.seen[haft_id_index(HAFT_LAYOUT_32_32, ids[2 * i + 1])] == 1);
    }
}

/* --- cursors --- */

TEST_ON_EACH_CLOCK(cursor, gives_id_and_object_until_the_end_and_then_leaves_both_alone)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_id id = {0x5a5a};
    void *object = &id;

    fill(&shared, 1);
    haft_section_begin(shared.domain);
    haft_cursor cursor = haft_cursor_over(shared.table, HAFT_EVERYTHING);

    cr_assert(haft_cursor_next(&cursor, &id, &object));
    cr_expect(eq(u64, id.bits, ids[0].bits));
    cr_expect(eq(ptr, object, haft_resolve(shared.view, id)));
    id.bits = 0x5a5a;
    object = &id;
    cr_expect(not(haft_cursor_next(&cursor, &id, &object)));
    cr_expect(eq(u64, id.bits, 0x5a5a));
    cr_expect(eq(ptr, object, &id));
    haft_section_end(shared.domain);
}

TEST_ON_EACH_CLOCK(cursor, at_its_end_stays_there)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_cursor cursor = haft_cursor_over(shared.table, HAFT_EVERYTHING);
    haft_id id;
    void *object;

    haft_section_begin(shared.domain);
    cr_expect(not(haft_cursor_next(&cursor, &id, &object)));
    fill(&shared, 1000);
    cr_expect(not(haft_cursor_next(&cursor, &id, &object)));
    haft_section_end(shared.domain);
}

TEST_ON_EACH_CLOCK(cursor, over_nothing_gives_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

    fill(&shared, 1000);
    haft_section_begin(shared.domain);
    cr_expect(eq(int, length_of(haft_cursor_over(shared.table, HAFT_RANGE(500, 500))), 0));
    cr_expect(eq(int, length_of(haft_cursor_over(shared.table, HAFT_RANGE(500, 400))), 0));
    cr_expect(eq(int, length_of(haft_cursor_over(shared.table, HAFT_RANGE(0, 4))), 0));
    cr_expect(eq(int, length_of(haft_cursor_over(shared.table, HAFT_RANGE(1 << 20, 1 << 21))), 0));
    haft_section_end(shared.domain);
}

TEST_ON_EACH_CLOCK(cursor, keeps_what_it_gave_readable_until_the_section_ends)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    char text[16] = "fifteen letters";
    haft_id id;
    void *object = NULL;

    assert_status(haft_insert(shared.worker, text, &id), HAFT_OK);
    haft_section_begin(shared.domain);
    haft_cursor cursor = haft_cursor_over(shared.table, HAFT_EVERYTHING);

    cr_assert(haft_cursor_next(&cursor, &id, &object));
    assert_status(haft_free(shared.worker, id), HAFT_OK);
    assert_status(haft_worker_flush(shared.worker), HAFT_OK);
    for (int i = 0; i < 3000; i++) {
        haft_insert(shared.worker, NULL, &id);
    }
    cr_expect(eq(str, object, text));
    haft_section_end(shared.domain);
}

TEST_ON_EACH_CLOCK(cursor, put_down_and_taken_up_in_other_sections_misses_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_id id;
    void *object;
    int count = 0;

    fill(&shared, 1000);
    haft_cursor cursor = haft_cursor_over(shared.table, HAFT_EVERYTHING);

    for (int n = 0; n < 300; n++) {
        haft_section_begin(shared.domain);
        for (int i = 0; i < 5; i++) {
            count += haft_cursor_next(&cursor, &id, &object);
        }
        haft_section_end(shared.domain);
        assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    }
    cr_expect(eq(int, count, 1000));
}

struct taken_up {
    pthread_t thread;
    haft_domain *domain;
    haft_cursor cursor;
    int count;
};

static void *take_up(void *arg)
{
    struct taken_up *taken_up = arg;

    haft_thread_register(taken_up->domain);
    haft_section_begin(taken_up->domain);
    taken_up->count = length_of(taken_up->cursor);
    haft_section_end(taken_up->domain);
    haft_thread_unregister(taken_up->domain);
    return NULL;
}

TEST_ON_EACH_CLOCK(cursor, taken_up_by_another_thread_goes_on_where_it_was)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct taken_up taken_up = {.domain = shared.domain};
    haft_id id;
    void *object;

    fill(&shared, 1000);
    taken_up.cursor = haft_cursor_over(shared.table, HAFT_EVERYTHING);
    haft_section_begin(shared.domain);
    for (int i = 0; i < 400; i++) {
        must(haft_cursor_next(&taken_up.cursor, &id, &object));
    }
    haft_section_end(shared.domain);
    must(pthread_create(&taken_up.thread, NULL, take_up, &taken_up) == 0);
    pthread_join(taken_up.thread, NULL);
    cr_expect(eq(int, taken_up.count, 600));
}

/* One of everything that can happen to a table between two visits. */
static void disturb(struct shared *shared, haft_id *passing, int *count, uint64_t *seed)
{
    const uint64_t what = random_next(seed) % 8;

    if (what < 3 && *count < 400 &&
        haft_insert(shared->worker, NULL, &passing[*count]) == HAFT_OK) {
        ++*count;
    } else if (what < 6 && *count != 0) {
        const int at = (int)(random_next(seed) % (uint64_t)*count);

        must(haft_free(shared->worker, passing[at]) == HAFT_OK);
        passing[at] = passing[--*count];
    } else if (what == 6) {
        must(haft_worker_flush(shared->worker) == HAFT_OK);
    }
}

TEST_ON_EACH_CLOCK(cursor, meets_what_is_live_from_start_to_end_once_whatever_happens_meanwhile)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    static haft_id passing[400];
    uint64_t seed = 53;
    int count = 0;

    for (int i = 0; i < 500; i++) { /* stable ones, in between others */
        for (int n = 0; n < 4; n++) {
            disturb(&shared, passing, &count, &seed);
        }
        ids[i] = insert(shared.worker);
    }
    for (int round = 0; round < 50; round++) {
        uint8_t seen[MOST + HAFT_FIRST_INDEX] = {0};
        haft_cursor cursor = haft_cursor_over(shared.table, HAFT_EVERYTHING);
        haft_id id;
        void *object;

        while (haft_cursor_next(&cursor, &id, &object)) {
            must(++seen[haft_id_index(HAFT_LAYOUT_32_32, id)] == 1);
            disturb(&shared, passing, &count, &seed);
            if (random_next(&seed) % 16 == 0) {
                must(haft_worker_quiescent(shared.worker) == HAFT_OK);
            }
        }
        for (int i = 0; i < 500; i++) {
            must(seen[haft_id_index(HAFT_LAYOUT_32_32, ids[i])] == 1);
        }
    }
}

/* --- ranges, and slots never used --- */

#define PAGE 4096u
#define PARTS 16
#define MANY 100000

static const haft_table_options large_table = {.capacity = MANY, .object_size = 24};

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
    AT_END(close_shared) struct shared shared = open_with(&large_table, MANY);
    haft_range ranges[PARTS];

    for (size_t parts = 1; parts <= PARTS; parts++) {
        haft_scan_ranges(shared.table, ranges, parts);
        expect_division(&shared, ranges, parts, MANY);
    }
}

Test(ranges, have_equally_many_used_slots_but_for_rounding)
{
    AT_END(close_shared) struct shared shared = open_with(&large_table, MANY);
    haft_range ranges[PARTS];

    haft_scan_ranges(shared.table, ranges, PARTS);
    for (int i = 0; i < PARTS; i++) {
        cr_expect(ge(u64, objects_in(&shared, ranges[i]), MANY / PARTS - PAGE / 32));
        cr_expect(le(u64, objects_in(&shared, ranges[i]), MANY / PARTS + PAGE / 32));
    }
}

Test(ranges, do_not_count_fresh_slots_in_workers_hands)
{
    /* Two extents of 2048 slots, one of them nearly all fresh: first that, then the other. */
    AT_END(close_shared) struct shared shared = open_with(&large_table, 1);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    haft_range ranges[2];

    for (int i = 0; i < 2100; i++) {
        insert(other);
    }
    haft_scan_ranges(shared.table, ranges, 2);
    expect_division(&shared, ranges, 2, 2101);
    /* The first worker's batch of 124 slots counts as used, and is nearly all without objects. */
    cr_expect(ge(u64, objects_in(&shared, ranges[0]), 1000));
    cr_expect(ge(u64, objects_in(&shared, ranges[1]), 1040));
}

/* Whether the slot's word begins where a block of `bytes` does, up to the object's alignment. */
static bool begins_block(const struct shared *shared, uint64_t index, uint64_t bytes,
                         uint64_t alignment)
{
    const uint64_t at =
        (uint64_t)(uintptr_t)shared->view.base + index * shared->view.stride - (alignment - 8);

    return at % bytes == 0;
}

static void expect_blocks_of(const haft_table_options *table, int count, uint64_t bytes)
{
    AT_END(close_shared) struct shared shared = open_with(table, count);
    haft_range ranges[PARTS];

    haft_scan_ranges(shared.table, ranges, PARTS);
    expect_division(&shared, ranges, PARTS, (uint64_t)count);
    for (int i = 1; i < PARTS; i++) {
        cr_expect(begins_block(&shared, ranges[i].from, bytes, table->object_alignment));
        cr_expect(lt(u64, ranges[i].from, ranges[i].to));
    }
}

static void expect_blocks(size_t object_size, size_t alignment, int count, uint64_t bytes)
{
    const haft_table_options sized = {
        .capacity = MANY, .object_size = object_size, .object_alignment = alignment};

    expect_blocks_of(&sized, count, bytes);
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

/* In the heap, and in a block that begins anywhere. */
Test(ranges, of_tables_that_are_not_in_pages_meet_where_a_cache_line_begins)
{
    for (int kind = 0; kind < 6; kind++) {
        haft_table_options small = {.capacity = 600 + 10 * (uint64_t)kind,
                                    .object_size = kind % 2 == 0 ? 24 : 0,
                                    .object_alignment = kind % 3 == 0 ? 16 : 8};
        char *memory = malloc(40 + 40 * (size_t)kind); /* the heap goes on elsewhere */

        expect_blocks_of(&small, 600, 64);
        free(memory);
        memory = malloc(1 << 21);
        const haft_allocator block =
            haft_allocator_block(memory + 1 + 17 * kind, (1 << 21) - 1 - 17 * (size_t)kind);

        small.capacity = 10000;
        small.allocator = &block;
        expect_blocks_of(&small, 9000, 64);
        free(memory);
    }
}

Test(ranges, more_than_there_are_cache_lines_are_empty)
{
    AT_END(close_shared) struct shared shared = open_with(&large_table, 3);
    haft_range ranges[1000];

    haft_scan_ranges(shared.table, ranges, 1000);
    expect_division(&shared, ranges, 1000, 3);
}

Test(ranges, of_an_empty_table_are_empty)
{
    AT_END(close_shared) struct shared shared = open_with(&large_table, 0);
    haft_range ranges[3] = {{1, 2}, {1, 2}, {1, 2}};

    haft_scan_ranges(shared.table, ranges, 3);
    expect_division(&shared, ranges, 3, 0);
    cr_expect(eq(u64, ranges[2].to, HAFT_FIRST_INDEX));
}

Test(ranges, none_wanted_none_written)
{
    AT_END(close_shared) struct shared shared = open_with(&large_table, 100);
    haft_range range = {17, 19};

    haft_scan_ranges(shared.table, &range, 0);
    cr_expect(eq(u64, range.from, 17));
    cr_expect(eq(u64, range.to, 19));
}

Test(ranges, leave_slots_first_used_later_out)
{
    AT_END(close_shared) struct shared shared = open_with(&large_table, 100);
    haft_range ranges[2];

    haft_scan_ranges(shared.table, ranges, 2);
    for (int i = 0; i < 10000; i++) {
        insert(shared.worker);
    }
    cr_expect(ge(u64, objects_in(&shared, ranges[0]) + objects_in(&shared, ranges[1]), 100));
    cr_expect(lt(u64, objects_in(&shared, ranges[0]) + objects_in(&shared, ranges[1]), 2048));
}

/* --- used slots --- */

Test(used, of_an_empty_table_is_empty)
{
    AT_END(close_shared) struct shared shared = open_with(&large_table, 0);
    const haft_range used = haft_used_range(shared.table, HAFT_EVERYTHING);

    cr_expect(eq(u64, used.from, used.to));
}

Test(used, stretches_end_where_a_workers_fresh_slots_begin)
{
    AT_END(close_shared) struct shared shared = open_with(&large_table, 1);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    const haft_id id = insert(other); /* the first of the second extent */
    const haft_range first = haft_used_range(shared.table, HAFT_EVERYTHING);
    const haft_range second = haft_used_range(shared.table, HAFT_RANGE(first.to, UINT64_MAX));
    const haft_range third = haft_used_range(shared.table, HAFT_RANGE(second.to, UINT64_MAX));

    cr_expect(eq(u64, first.from, HAFT_FIRST_INDEX));
    cr_expect(le(u64, first.to, HAFT_FIRST_INDEX + 128));
    cr_expect(eq(u64, second.from, haft_id_index(HAFT_LAYOUT_32_32, id)));
    cr_expect(le(u64, second.to, second.from + 128));
    cr_expect(eq(u64, third.from, third.to));
    cr_expect(lt(u64, first.to + 1000, second.from));
}

Test(used, keeps_within_the_range)
{
    AT_END(close_shared) struct shared shared = open_with(&large_table, 1000);
    const haft_range middle = haft_used_range(shared.table, HAFT_RANGE(100, 200));
    const haft_range none = haft_used_range(shared.table, HAFT_RANGE(200, 100));
    const haft_range beyond = haft_used_range(shared.table, HAFT_RANGE(90000, 99999));

    cr_expect(eq(u64, middle.from, 100));
    cr_expect(eq(u64, middle.to, 200));
    cr_expect(eq(u64, none.from, none.to));
    cr_expect(eq(u64, beyond.from, beyond.to));
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
    AT_END(close_shared) struct shared shared = open_with(&paged, 1);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);

    insert(other);
    cr_expect(le(u64, pages_mapped(&shared, MANY), 8));
    cr_expect(eq(u64, look(&shared), 2));
    cr_expect(le(u64, pages_mapped(&shared, MANY), 8 + 2 * 128));
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

Test(fresh, slots_are_skipped_without_touching_their_memory)
{
    expect_untouched(look_at_everything);
    expect_untouched(look_at_parts);
    expect_untouched(look_from_within_extents);
    expect_untouched(look_by_visitor);
}

Test(fresh, slots_that_leave_an_extent_during_a_scan_do_no_harm)
{
    AT_END(close_shared) struct shared shared = open_with(&large_table, 1);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);

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
}

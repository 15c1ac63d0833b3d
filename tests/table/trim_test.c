/* haft_trim, and what haft_local_trim promises too: memory goes back, and ids stay stale. */
#include "tests/support.h"
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/scan.h>
#include <haft/share.h>
#include <haft/table.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(trim, .timeout = SUITE_SECONDS);
TestSuite(shared_trim, .timeout = SUITE_SECONDS);

#define OBJECTS 20000

static haft_id ids[OBJECTS];
static haft_id later[OBJECTS];

static uint64_t page_size(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

static void fill_some(haft_worker *worker, haft_id *into, int count)
{
    for (int i = 0; i < count; i++) {
        must(haft_insert(worker, NULL, &into[i]) == HAFT_OK);
    }
}

static void fill(haft_worker *worker, haft_id *into)
{
    fill_some(worker, into, OBJECTS);
}

/* Free all of them but `kept`, and wait for the grace period. */
static void clear_but(haft_worker *worker, const haft_id *from, int kept)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(i == kept || haft_free(worker, from[i]) == HAFT_OK);
    }
    settle(worker);
}

static void clear(haft_worker *worker, const haft_id *from)
{
    clear_but(worker, from, -1);
}

static uint64_t trim(haft_table *table)
{
    uint64_t bytes = UINT64_MAX;

    assert_status(haft_trim(table, &bytes), HAFT_OK);
    return bytes;
}

static void expect_all_stale(const struct shared *shared)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_resolve(shared->view, ids[i]) == NULL);
        must(haft_free(shared->worker, ids[i]) == HAFT_STALE);
        must(haft_diagnose(shared->table, ids[i]) == HAFT_STALE);
    }
}

static struct shared open_sized(struct setting setting, size_t size, size_t alignment)
{
    const haft_table_options options = {
        .capacity = OBJECTS,
        .object_size = size,
        .object_alignment = alignment,
        .layout = HAFT_LAYOUT_32_24_8,
    };
    return open_shared(setting, &options);
}

/* --- local and shared tables --- */

static uint64_t trim_either(struct subject *subject)
{
    uint64_t bytes = UINT64_MAX;

    if (subject->kind == SHARED) {
        return trim(subject->shared.table);
    }
    assert_status(haft_local_trim(subject->local, &bytes), HAFT_OK);
    return bytes;
}

static struct subject open_either(int kind, size_t size, size_t alignment)
{
    const haft_table_options options = {.capacity = OBJECTS,
                                        .object_size = size,
                                        .object_alignment = alignment,
                                        .layout = HAFT_LAYOUT_32_24_8};
    return subject_open(kind, &options);
}

static void free_all(struct subject *subject, const haft_id *from, int count)
{
    subject_free_each(subject, from, count);
    subject_settle(subject);
}

static void must_all_be_stale(struct subject *subject, int count)
{
    for (int i = 0; i < count; i++) {
        must(haft_resolve(subject->view, ids[i]) == NULL);
        must(subject_free(subject, ids[i]) == HAFT_STALE);
        must(subject_diagnose(subject, ids[i]) == HAFT_STALE);
    }
}

/* Of large objects fewer have as many pages. */
#define LARGE_OBJECTS (OBJECTS / 10)

/* Sizes whose runs are one page, a few pages, or end amid a page; and larger than a page. */
static const size_t sizes[] = {24, 0, 8, 32, 56, 500, 1024, 4088, 5000};

TEST_ON_EACH_TABLE(trim, memory_of_freed_objects_goes_back_and_all_ids_stay_stale)
{
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        const size_t size = sizes[i / 2];
        const int count = size < 500 ? OBJECTS : LARGE_OBJECTS;
        AT_END(subject_close)
        struct subject subject = open_either(*kind, size, i % 2 == 0 ? 8 : 64);

        subject_insert_each(&subject, ids, count);
        const uint64_t before = pages_in_memory(subject.view);

        free_all(&subject, ids, count);
        const uint64_t bytes = trim_either(&subject);
        const uint64_t gone = (before - pages_in_memory(subject.view)) * page_size();

        cr_expect(ge(u64, bytes + 64 * page_size(), before * page_size() * 7 / 8));
        cr_expect(gone == bytes || (*kind == SHARED && gone < bytes));
        must_all_be_stale(&subject, count);
        subject_insert_each(&subject, later, count);
        for (int n = 0; n < count; n++) { /* those below may be a run */
            must(haft_id_index(HAFT_LAYOUT_32_24_8, later[n]) >= HAFT_FIRST_INDEX);
        }
        must_all_be_stale(&subject, count);
        free_all(&subject, later, count);
        must_all_be_stale(&subject, count);
    }
}

TEST_ON_EACH_TABLE(trim, a_second_time_there_is_nothing_to_give_back)
{
    AT_END(subject_close) struct subject subject = open_either(*kind, 24, 8);

    cr_expect(eq(u64, trim_either(&subject), 0)); /* of an empty table */
    subject_insert_each(&subject, ids, OBJECTS);
    cr_expect(eq(u64, trim_either(&subject), 0)); /* of a full one */
    free_all(&subject, ids, OBJECTS);
    cr_expect(lt(u64, 0, trim_either(&subject)));
    cr_expect(eq(u64, trim_either(&subject), 0));
    expect_status(*kind == SHARED ? haft_trim(subject.shared.table, NULL)
                                  : haft_local_trim(subject.local, NULL),
                  HAFT_OK);
}

TEST_ON_EACH_TABLE(trim, forged_ids_and_failed_frees_do_not_bring_pages_back)
{
    AT_END(subject_close) struct subject subject = open_either(*kind, 4088, 8); /* a page each */
    uint64_t seed = 59;

    subject_insert_each(&subject, ids, LARGE_OBJECTS);
    free_all(&subject, ids, LARGE_OBJECTS);
    trim_either(&subject);
    must(*kind == SHARED || pages_in_memory(subject.view) < 16);
    const long before = resident_pages();

    must_all_be_stale(&subject, LARGE_OBJECTS);
    for (int n = 0; n < 100000; n++) {
        const haft_id id = {random_next(&seed)};

        must(subject_free(&subject, id) != HAFT_OK && !haft_is_live(subject.view, id));
    }
    cr_expect(lt(long, pages_written_since(before), 500));
}

/* --- shared tables --- */

TEST_ON_EACH_CLOCK(shared_trim, slots_serve_again_as_often_as_they_are_given_back)
{
    AT_END(close_shared) struct shared shared = open_sized(*setting, 24, 8);

    for (int round = 0; round < 4; round++) {
        fill(shared.worker, ids);
        clear(shared.worker, ids);
        cr_expect(lt(u64, OBJECTS * 32 * 3 / 4, trim(shared.table)));
        expect_all_stale(&shared);
    }
    cr_expect(le(u64, stats_of(shared.table).high_water, OBJECTS + 2 * 128));
    while (haft_insert(shared.worker, NULL, &ids[0]) == HAFT_OK) {
        /* until no released slot is left */
    }
    cr_expect(eq(u64, stats_of(shared.table).released, 0));
}

Test(shared_trim, a_million_objects_leave_batch_descriptors_and_less_than_2_percent_of_the_rest)
{
    /* AddressSanitizer takes some MiB more. */
    const int thousands = under_asan() ? 10000 : 1000;
    const haft_table_options options = {.capacity = (uint64_t)thousands * 1000, .object_size = 24};
    const uint64_t descriptors = options.capacity * 9 / 2;
    const uint64_t left_percent = under_asan() ? 15 : 2; /* it has a byte of books for eight */
    const uint64_t back_percent =
        under_asan() && reading_takes_memory() ? 85 : 98; /* and reads them */
    const uint64_t before = ((uint64_t)resident_pages() * page_size());
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_cursor cursor;
    haft_id many[1000];
    void *object;

    for (int n = 0; n < thousands; n++) {
        must(haft_insert_many(shared.worker, NULL, many, 1000, NULL) == 1000);
    }
    cursor = haft_cursor_over(shared.table, HAFT_EVERYTHING);
    for (int n = 0; n < thousands; n++) {
        for (int i = 0; i < 1000; i++) {
            must(haft_cursor_next(&cursor, &many[i], &object));
        }
        must(haft_free_many(shared.worker, many, 1000, NULL) == 1000);
    }
    settle(shared.worker);
    const uint64_t rest = ((uint64_t)resident_pages() * page_size()) - before - descriptors;
    const uint64_t bytes = trim(shared.table);

    cr_expect(lt(u64, options.capacity * 32, rest));
    cr_expect(lt(u64, ((uint64_t)resident_pages() * page_size()) - before,
                 descriptors + rest / 100 * left_percent));
    cr_expect(lt(u64, rest / 100 * back_percent, bytes));
}

TEST_ON_EACH_CLOCK(shared_trim, slots_go_on_at_the_highest_generation_of_their_run)
{
    AT_END(close_shared) struct shared shared = open_sized(*setting, 24, 8);

    fill(shared.worker, ids);
    clear(shared.worker, ids);
    fill_some(shared.worker, later, 5000); /* some of them a second time */
    for (int i = 0; i < 5000; i++) {
        must(haft_free(shared.worker, later[i]) == HAFT_OK);
    }
    settle(shared.worker);
    trim(shared.table);
    fill(shared.worker, later);
    const haft_layout layout = haft_table_info(shared.table).layout;
    int twice = 0;

    for (int i = 0; i < OBJECTS; i++) {
        const uint64_t generation = haft_id_generation(layout, later[i]);

        must(generation == 1 || generation == 2 || generation == 3); /* 1: never used before */
        twice += generation == 3;
    }
    cr_expect(ge(int, twice, 5000 - 2 * 128));
    expect_all_stale(&shared);
}

/* --- what stays --- */

TEST_ON_EACH_CLOCK(shared_trim, pages_with_a_live_object_or_a_reservation_stay)
{
    AT_END(close_shared) struct shared shared = open_sized(*setting, 24, 8);
    haft_id reserved;
    void *object;

    fill(shared.worker, ids);
    *(uint64_t *)haft_resolve(shared.view, ids[12000]) = 42;
    must(haft_free(shared.worker, ids[5000]) == HAFT_OK);
    settle(shared.worker);
    assert_status(haft_reserve(shared.worker, &reserved, &object), HAFT_OK);
    ids[5000] = HAFT_NIL;
    for (int i = 0; i < OBJECTS; i++) {
        must(i == 12000 || i == 5000 || haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    settle(shared.worker);
    *(uint64_t *)object = 43;
    cr_expect(lt(u64, 0, trim(shared.table)));
    cr_expect(eq(u64, *(uint64_t *)haft_resolve(shared.view, ids[12000]), 42));
    haft_publish(shared.worker, reserved);
    cr_expect(eq(u64, *(uint64_t *)haft_resolve(shared.view, reserved), 43));
    cr_expect(eq(u64, stats_of(shared.table).live, 2));
}

TEST_ON_EACH_CLOCK(shared_trim, what_waits_for_its_grace_period_stays)
{
    AT_END(close_shared) struct shared shared = open_sized(*setting, 24, 8);
    struct reader reader;

    fill(shared.worker, ids);
    reader_enter(&reader, &shared);
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    assert_status(haft_worker_flush(shared.worker), HAFT_OK);
    cr_expect(eq(u64, trim(shared.table), 0));
    reader_leave(&reader);
    assert_status(haft_domain_wait(shared.domain), HAFT_OK);
    cr_expect(lt(u64, 0, trim(shared.table)));
}

static bool is_resident(haft_view view, uint64_t index)
{
    const uintptr_t page = (uintptr_t)page_size();
    const uintptr_t at = (uintptr_t)view.base + (uintptr_t)(index * view.stride);
    unsigned char in = 0;

    must(mincore((void *)(at / page * page), page, &in) == 0);
    return (in & 1) != 0;
}

TEST_ON_EACH_CLOCK(shared_trim, an_exhausted_slot_keeps_its_run_and_stays_exhausted)
{
    const haft_table_options options = {
        .capacity = OBJECTS, .object_size = 24, .layout = HAFT_LAYOUT_OF(16, 2, 0)};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_id id;

    fill(shared.worker, ids);
    const haft_id worn = ids[10000];
    const uint64_t index = haft_id_index(options.layout, worn);

    must(haft_free(shared.worker, worn) == HAFT_OK);
    while (haft_insert_wait(shared.worker, NULL, &id) == HAFT_OK) { /* to its last life */
        must(haft_free(shared.worker, id) == HAFT_OK);
    }
    const uint64_t exhausted = stats_of(shared.table).exhausted;

    for (int i = 0; i < OBJECTS; i++) {
        must(i == 10000 || haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    settle(shared.worker);
    trim(shared.table);
    cr_expect(is_resident(shared.view, index));
    cr_expect(not(is_resident(shared.view, index / 2)));
    expect_status(haft_diagnose(shared.table, worn), HAFT_EXHAUSTED);
    cr_expect(eq(u64, stats_of(shared.table).exhausted, exhausted));
}

TEST_ON_EACH_CLOCK(shared_trim, a_pinned_object_keeps_its_page)
{
    const haft_table_options options = {.capacity = OBJECTS, .object_size = 24, .pins = true};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    uint64_t *object;

    fill(shared.worker, ids);
    haft_section_begin(shared.domain);
    object = haft_pin(shared.table, ids[7000]);
    haft_section_end(shared.domain);
    cr_assert(ne(ptr, object, NULL));
    *object = 77;
    clear(shared.worker, ids);
    cr_expect(lt(u64, 0, trim(shared.table)));
    cr_expect(eq(u64, *object, 77));
    expect_status(haft_unpin(shared.table, ids[7000]), HAFT_OK);
    cr_expect(lt(u64, 0, trim(shared.table)), "its run is free now");
    expect_all_stale(&shared);
}

TEST_ON_EACH_CLOCK(shared_trim, all_objects_that_were_unpinned_are_reclaimed)
{
    /* All slots that ids have room for, so that each slot is a batch. */
    const haft_table_options options = {
        .capacity = 1020, .object_size = 8, .layout = {10, 54, 0, 0}, .pins = true};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

    fill_some(shared.worker, ids, 1020);
    for (int i = 0; i < 1020; i++) {
        must(haft_pin(shared.table, ids[i]) != NULL);
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    settle(shared.worker);
    trim(shared.table); /* finds the pins */
    for (int i = 0; i < 1020; i++) {
        must(haft_unpin(shared.table, ids[i]) == HAFT_OK);
    }
    trim(shared.table);
    cr_expect(zero(u64, stats_of(shared.table).retired));
}

TEST_ON_EACH_CLOCK(shared_trim, what_a_worker_holds_goes_back_after_its_flush)
{
    AT_END(close_shared) struct shared shared = open_sized(*setting, 4088, 8);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);

    fill(shared.worker, ids);
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_free(other, ids[i]) == HAFT_OK);
    }
    assert_status(haft_domain_wait(shared.domain), HAFT_OK);
    trim(shared.table);
    const uint64_t held = pages_in_memory(shared.view);

    assert_status(haft_worker_flush(shared.worker), HAFT_OK);
    settle(other);
    trim(shared.table);
    cr_expect(lt(u64, pages_in_memory(shared.view), held));
    cr_expect(le(u64, pages_in_memory(shared.view), 10));
}

/* --- what others see --- */

/* They are in the table's list, far more than a batch holds. */
TEST_ON_EACH_CLOCK(shared_trim, slots_freed_without_a_worker_are_all_released_at_the_second_trim)
{
    AT_END(close_shared) struct shared shared = open_sized(*setting, 24, 8);

    fill(shared.worker, ids);
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_table_free(shared.table, ids[i]) == HAFT_OK);
    }
    trim(shared.table); /* their grace period begins */
    settle(shared.worker);
    trim(shared.table);
    cr_expect(lt(u64, OBJECTS * 3 / 4, stats_of(shared.table).released));
}

TEST_ON_EACH_CLOCK(shared_trim, the_counters_tell_what_was_given_back)
{
    AT_END(close_shared) struct shared shared = open_sized(*setting, 24, 8);

    fill(shared.worker, ids);
    clear_but(shared.worker, ids, 100);
    const haft_table_stats before = stats_of(shared.table);

    trim(shared.table);
    const haft_table_stats after = stats_of(shared.table);

    cr_expect(eq(u64, before.released, 0));
    cr_expect(lt(u64, OBJECTS * 3 / 4, after.released));
    cr_expect(eq(u64, after.high_water, before.high_water));
    cr_expect(eq(u64, after.live, 1));
    cr_expect(eq(u64, after.retired, 0));
    cr_expect(eq(u64, after.live + after.free + after.released, after.high_water));
    fill_some(shared.worker, later, OBJECTS - 1);
    const haft_table_stats full = stats_of(shared.table);

    cr_expect(eq(u64, full.live, OBJECTS));
    cr_expect(eq(u64, full.live + full.free + full.released, full.high_water));
    cr_expect(lt(u64, full.high_water, OBJECTS + 2048), "released slots came first");
}

/* Live objects that a scan meets; each once. */
static uint64_t scan(const struct shared *shared)
{
    haft_cursor cursor = haft_cursor_over(shared->table, HAFT_EVERYTHING);
    haft_id last = HAFT_NIL;
    haft_id id;
    void *object;
    uint64_t count = 0;

    while (haft_cursor_next(&cursor, &id, &object)) {
        must(haft_id_index(HAFT_LAYOUT_32_24_8, id) > haft_id_index(HAFT_LAYOUT_32_24_8, last));
        last = id;
        count++;
    }
    return count;
}

TEST_ON_EACH_CLOCK(shared_trim, a_scan_meets_each_object_once_and_skips_what_was_given_back)
{
    AT_END(close_shared) struct shared shared = open_sized(*setting, 24, 8);

    fill(shared.worker, ids);
    for (int i = 0; i < OBJECTS; i++) { /* runs are 128 slots: some are full, some empty */
        must(i / 300 % 2 == 0 || haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    settle(shared.worker);
    const uint64_t live = stats_of(shared.table).live;

    cr_expect(lt(u64, 0, trim(shared.table)));
    const uint64_t before = pages_in_memory(shared.view);

    cr_expect(eq(u64, scan(&shared), live));
    cr_expect(eq(u64, pages_in_memory(shared.view), before), "not even pages of zeros come in");
    fill_some(shared.worker, later, 3000);
    cr_expect(eq(u64, scan(&shared), live + 3000));
}

TEST_ON_EACH_CLOCK(shared_trim, free_slots_that_stay_are_used_in_order_of_index)
{
    AT_END(close_shared) struct shared shared = open_sized(*setting, 24, 8);
    haft_id last = HAFT_NIL;

    fill(shared.worker, ids);
    for (int i = 0; i < OBJECTS; i++) {
        must(i % 2 == 0 || haft_free(shared.worker, ids[OBJECTS - 1 - i]) == HAFT_OK);
    }
    settle(shared.worker);
    cr_expect(eq(u64, trim(shared.table), 0));
    for (int i = 0; i < OBJECTS / 4; i++) {
        const haft_id id = insert(shared.worker);

        must(haft_id_index(HAFT_LAYOUT_32_24_8, id) > haft_id_index(HAFT_LAYOUT_32_24_8, last));
        last = id;
    }
}

TEST_ON_EACH_CLOCK(shared_trim, all_slots_are_there_for_any_number_of_workers)
{
    const haft_table_options options = {.capacity = 3000, .object_size = 24};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_worker *workers[20];

    for (int w = 0; w < 20; w++) {
        workers[w] = open_worker(shared.table);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3000; i++) {
            must(haft_insert_wait(workers[i % 20], NULL, &ids[i]) == HAFT_OK);
        }
        for (int i = 0; i < 3000; i++) {
            must(haft_free(workers[i % 7], ids[i]) == HAFT_OK);
        }
        for (int w = 0; w < 20; w++) {
            settle(workers[w]);
        }
        cr_expect(lt(u64, 0, trim(shared.table)));
    }
    for (int w = 0; w < 20; w++) {
        must(haft_worker_close(workers[w]) == HAFT_OK);
    }
}

Test(shared_trim, slots_that_are_due_are_within_reach_afterwards)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    const haft_table_options options = {.capacity = 100000, .object_size = 8};
    static haft_id all[200000];
    const int due = 128 * 128; /* as many batches as a ring has room for */
    AT_END(close_shared) struct shared shared = open_shared_on(&frames, &options);
    int count = 0;
    int again = 0;

    while (haft_insert(shared.worker, NULL, &all[count]) == HAFT_OK) {
        count++;
    }
    for (int i = 0; i < 2 * due; i += 2) { /* every other one: no page can go */
        must(haft_free(shared.worker, all[i]) == HAFT_OK);
    }
    must(haft_domain_tick(shared.domain) == HAFT_OK);
    for (int i = 2 * due; i < count; i++) { /* these wait */
        must(haft_free(shared.worker, all[i]) == HAFT_OK);
    }
    trim(shared.table);
    while (haft_insert(shared.worker, NULL, &all[0]) == HAFT_OK) {
        again++;
    }
    cr_expect(eq(int, again, due));
}

/* Objects that are live when their table is closed, with places: what is reported of them. */
#define _GNU_SOURCE /* dladdr */
#include "tests/base/counted.h"
#include "tests/slots/spawn.h"
#include <dlfcn.h>
#include <haft/kit/packed.h>
#include <string.h>

TestSuite(leaks, .timeout = SUITE_SECONDS);

static char text[1024];

#define LEAKS 8

static struct {
    haft_leak leaks[LEAKS];
    int count;
    int destroyed; /* before the first report */
    char table[32];
} reported;

static void note_leak(const haft_leak *leak, void *arg)
{
    must(arg == &reported);
    must(reported.count < LEAKS);
    reported.leaks[reported.count++] = *leak;
    strncpy(reported.table, leak->table, sizeof reported.table - 1);
}

static const char *function_of(const void *site)
{
    Dl_info found;

    must(dladdr((void *)((uintptr_t)site - 1), &found) != 0);
    return found.dli_sname;
}

static struct subject open_with_report(int kind)
{
    haft_table_options options = with_places();

    memset(&reported, 0, sizeof reported);
    options.on_leak = note_leak;
    options.report_arg = &reported;
    return subject_open(kind, &options);
}

TEST_ON_EACH_TABLE(leaks, are_reported_at_closing_by_place_the_most_objects_first)
{
    struct subject subject = open_with_report(*kind);
    haft_id other = spawn_reserved(&subject);

    subject_publish(&subject, other);
    const haft_id first = spawn(&subject);

    for (int i = 0; i < 2; i++) {
        spawn(&subject);
    }
    sink(&subject, spawn(&subject));
    subject_close(&subject);

    cr_assert(eq(int, reported.count, 2));
    cr_expect(eq(str, reported.table, "ships"));
    cr_expect(eq(u64, reported.leaks[0].count, 3));
    cr_expect(eq(u64, reported.leaks[0].first.bits, first.bits));
    cr_expect(eq(str, (char *)function_of(reported.leaks[0].site), "spawn"));
    cr_expect(eq(u64, reported.leaks[1].count, 1));
    cr_expect(eq(u64, reported.leaks[1].first.bits, other.bits));
    cr_expect(eq(str, (char *)function_of(reported.leaks[1].site), "spawn_reserved"));
}

TEST_ON_EACH_TABLE(leaks, of_an_empty_table_are_none)
{
    struct subject subject = open_with_report(*kind);

    sink(&subject, spawn(&subject));
    spawn_reserved(&subject); /* not an object */
    subject_close(&subject);
    cr_expect(zero(int, reported.count));
}

Test(leaks, in_words_name_table_count_place_and_an_id)
{
    struct subject subject = open_with_report(LOCAL);

    spawn(&subject);
    subject_close(&subject);
    reported.leaks[0].table = "ships";
    haft_leak_format(&reported.leaks[0], text, sizeof text);
    expect_in(text, "ships: 1 object is live at closing, allocated at spawn+0x");
    expect_in(text, "): 4v1");
    reported.leaks[0].count = 1234;
    haft_leak_format(&reported.leaks[0], text, sizeof text);
    expect_in(text, "ships: 1,234 objects are live at closing, allocated at spawn+0x");
    expect_in(text, "), such as 4v1");
    reported.leaks[0].site = NULL;
    haft_leak_format(&reported.leaks[0], text, sizeof text);
    cr_expect(eq(str, text,
                 "ships: 1,234 objects are live at closing, allocated somewhere, such as 4v1"));
}

haft_id spawn_packed(haft_packed *packed);

__attribute__((noinline)) haft_id spawn_packed(haft_packed *packed)
{
    haft_id id = HAFT_NIL;

    assert_status(haft_packed_insert(packed, NULL, &id), HAFT_OK);
    return id;
}

static void count_destroyed(void *object, haft_id id, void *arg)
{
    reported.destroyed += reported.count == 0;
}

Test(leaks, of_a_packed_table_are_reported_before_on_destroy_runs)
{
    const haft_packed_options options = {
        .name = "ships",
        .capacity = 10,
        .object_size = 8,
        .sites = true,
        .on_destroy = count_destroyed,
        .on_leak = note_leak,
        .report_arg = &reported,
    };
    haft_packed *packed;

    memset(&reported, 0, sizeof reported);
    assert_status(haft_packed_open(&options, &packed), HAFT_OK);
    spawn_packed(packed);
    spawn_packed(packed);
    haft_packed_close(packed);
    cr_expect(eq(int, reported.count, 1));
    cr_expect(eq(u64, reported.leaks[0].count, 2));
    cr_expect(eq(str, (char *)function_of(reported.leaks[0].site), "spawn_packed"));
    cr_expect(zero(int, reported.destroyed));
}

static void leave_one(struct subject *subject)
{
    *subject = open_with_places(subject->kind);
    spawn(subject);
    subject_close(subject);
}

TEST_ON_EACH_TABLE(leaks, without_a_function_are_lines_on_stderr)
{
    struct subject subject = {.kind = *kind};

    line_of(leave_one, &subject, text, sizeof text);
    expect_in(text, "haft: ships: 1 object is live at closing, allocated at spawn+0x");
}

/* More places than are told apart: each call of this expands to another one. */
#define INSERT(table) must(haft_local_insert(table, NULL, &id) == HAFT_OK)
#define FOUR(x)                                                                                    \
    x;                                                                                             \
    x;                                                                                             \
    x;                                                                                             \
    x
#define INSERT_256(table) FOUR(FOUR(FOUR(FOUR(INSERT(table)))))

static uint64_t leaked_in_all;
static uint64_t leaked_somewhere;

static void add_up(const haft_leak *leak, void *arg)
{
    leaked_in_all += leak->count;
    leaked_somewhere += leak->site == NULL ? leak->count : 0;
}

Test(leaks, of_very_many_places_are_all_counted)
{
    const haft_local_options options = {.capacity = 1000, .sites = true, .on_leak = add_up};
    haft_local *local = local_open(&options);
    haft_id id;

    INSERT_256(local);
    INSERT_256(local);
    haft_local_close(local);
    cr_expect(eq(u64, leaked_in_all, 512));
    cr_expect(eq(u64, leaked_somewhere, 512 - 255));
}

Test(leaks, are_all_counted_where_memory_for_many_places_is_refused)
{
    struct counted counted = {.left = -1};
    const haft_allocator allocator = counted_allocator(&counted);
    const haft_local_options options = {
        .capacity = 1000, .sites = true, .on_leak = add_up, .allocator = &allocator};
    haft_local *local = local_open(&options);
    haft_id id;

    INSERT_256(local);
    counted.left = 0;
    haft_local_close(local);
    cr_expect(eq(u64, leaked_in_all, 256));
    cr_expect(eq(u64, leaked_somewhere, 256 - 15));
    cr_expect(zero(sz, counted.held));
}

/* Answers in words: why insertions fail. */
#include "tests/support.h"
#include <haft/diagnose.h>
#include <haft/kit/packed.h>
#include <haft/kit/side.h>
#include <haft/pin.h>
#include <stdio.h>
#include <string.h>

TestSuite(explain, .timeout = SUITE_SECONDS);

static char text[512];

static const char *of_table(const haft_table *table, haft_status status)
{
    const int length = haft_table_explain(table, status, text, sizeof text);

    cr_expect(eq(int, length, (int)strlen(text)));
    return text;
}

static const char *of_local(const haft_local *local, haft_status status)
{
    const int length = haft_local_explain(local, status, text, sizeof text);

    cr_expect(eq(int, length, (int)strlen(text)));
    return text;
}

static const char *of_packed(const haft_packed *packed, haft_status status)
{
    const int length = haft_packed_explain(packed, status, text, sizeof text);

    cr_expect(eq(int, length, (int)strlen(text)));
    return text;
}

#define expect_text(actual, expected) cr_expect(eq(str, (char *)(actual), expected))

/* As many slots as the capacity. */
static const haft_table_options tight = {
    .name = "players", .capacity = 4092, .object_size = 24, .layout = HAFT_LAYOUT_OF(12, 32, 0)};

TEST_ON_EACH_CLOCK(explain, full_names_the_table_and_what_is_in_it)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &tight);
    haft_id id;

    for (int i = 0; i < 4000; i++) {
        insert(shared.worker);
    }
    for (int i = 0; i < 92; i++) {
        assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK);
    }
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
    expect_text(of_table(shared.table, HAFT_FULL),
                "players: full: capacity 4,092; 4,000 live, 92 reserved");
}

Test(explain, full_of_live_objects_names_nothing_else)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &tight);

    for (int i = 0; i < 4092; i++) {
        insert(shared.worker);
    }
    expect_text(of_table(shared.table, HAFT_FULL), "players: full: capacity 4,092; 4,092 live");
}

Test(explain, full_says_what_is_exhausted)
{
    const haft_table_options options = {.name = "players", .capacity = 1, .layout = {3, 1, 0, 0}};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_id id = HAFT_NIL;
    haft_status status;

    while ((status = haft_insert_wait(shared.worker, NULL, &id)) == HAFT_OK) {
        must(haft_free(shared.worker, id) == HAFT_OK);
    }
    assert_status(status, HAFT_FULL);
    of_table(shared.table, HAFT_FULL);
    cr_expect(ne(ptr, strstr(text, "players: full: capacity 1; 0 live, "), NULL));
    cr_expect(ne(ptr, strstr(text, " slots exhausted"), NULL));
}

/* All slots of the table, however many there are, freed while a reader is inside. */
static uint64_t free_all_inside(struct shared *shared, struct reader *reader)
{
    static haft_id ids[1000];
    uint64_t count = 0;

    reader_enter(reader, shared);
    while (count < 1000 && haft_insert(shared->worker, NULL, &ids[count]) == HAFT_OK) {
        count++;
    }
    for (uint64_t i = 0; i < count; i++) {
        must(haft_free(shared->worker, ids[i]) == HAFT_OK);
    }
    return count;
}

TEST_ON_EACH_CLOCK(explain, busy_says_how_many_slots_wait)
{
    const haft_table_options options = {.name = "players", .capacity = 100};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct reader reader;
    const uint64_t count = free_all_inside(&shared, &reader);
    char expected[100];
    haft_id id;

    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_BUSY);
    snprintf(expected, sizeof expected, "players: busy: %d slots wait for a grace period",
             (int)count);
    cr_expect(eq(int, strncmp(of_table(shared.table, HAFT_BUSY), expected, strlen(expected)), 0));
    reader_leave(&reader);
}

Test(explain, busy_says_how_many_slots_waiting_bytes_allow)
{
    const haft_table_options options = {
        .name = "players", .capacity = 10000, .object_size = 24, .waiting_bytes = 100 * 32};
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    AT_END(close_shared) struct shared shared = open_shared_on(&frames, &options);
    haft_status status;
    haft_id id;

    while ((status = haft_insert(shared.worker, NULL, &id)) == HAFT_OK) {
        must(haft_free(shared.worker, id) == HAFT_OK);
    }
    assert_status(status, HAFT_BUSY);
    expect_text(of_table(shared.table, HAFT_BUSY),
                "players: busy: 100 slots wait for a grace period: the next haft_domain_tick(); "
                "waiting_bytes allows 100");
}

Test(explain, busy_says_since_when_and_who_holds_it_up)
{
    const struct setting workers = {ANNOUNCED, HAFT_CLOCK_WORKERS};
    const haft_table_options options = {.name = "players", .capacity = 100};
    AT_END(close_shared) struct shared shared = open_shared(workers, &options);
    struct reader reader;
    unsigned long thread = 0;
    unsigned ms = 0;
    haft_id id;

    free_all_inside(&shared, &reader);
    haft_worker_quiescent(shared.worker);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_BUSY);
    haft_worker_quiescent(shared.worker);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_BUSY);
    sleep_ms(120);
    const char *since = strstr(of_table(shared.table, HAFT_BUSY), ", which has lasted ");

    cr_assert(ne(ptr, (void *)since, NULL), "%s", text);
    cr_expect(eq(int,
                 sscanf(since, ", which has lasted %u ms; worker %*p of thread %lu holds it up",
                        &ms, &thread),
                 2),
              "%s", text);
    cr_expect(ge(uint, ms, 100));
    cr_expect(lt(ulong, 0, thread));
    reader_leave(&reader);
}

Test(explain, busy_says_that_the_calling_thread_holds_it_up_if_it_does)
{
    const struct setting workers = {ANNOUNCED, HAFT_CLOCK_WORKERS};
    const haft_table_options options = {.name = "players", .capacity = 100};
    AT_END(close_shared) struct shared shared = open_shared(workers, &options);
    haft_status status;
    haft_id id;

    while ((status = haft_insert(shared.worker, NULL, &id)) == HAFT_OK) {
        must(haft_free(shared.worker, id) == HAFT_OK);
    }
    assert_status(status, HAFT_BUSY);
    of_table(shared.table, status);
    cr_expect(
        ne(ptr, strstr(text, "; this thread holds it up until its next quiescent point"), NULL),
        "%s", text);
}

Test(explain, busy_of_a_frame_clock_waits_for_the_tick)
{
    const haft_domain_options domain = {.clock = HAFT_CLOCK_FRAME};
    const haft_table_options options = {.name = "players", .capacity = 1, .layout = {3, 20, 0, 0}};
    AT_END(close_shared) struct shared shared = open_shared_on(&domain, &options);
    haft_id id;

    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        must(haft_free(shared.worker, id) == HAFT_OK);
    }
    of_table(shared.table, HAFT_BUSY);
    cr_expect(ne(ptr, strstr(text, "wait for a grace period: the next haft_domain_tick()"), NULL),
              "%s", text);
}

Test(explain, busy_with_pins_says_so_and_with_nothing_retired_too)
{
    const haft_table_options options = {.name = "players", .capacity = 1, .pins = true};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    expect_text(of_table(shared.table, HAFT_BUSY),
                "players: busy: free slots are on their way between workers");
    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    expect_text(of_table(shared.table, HAFT_BUSY),
                "players: busy: 1 slot waits for pins to go, or for a grace period");
}

Test(explain, no_memory_says_how_much_there_was)
{
    const haft_table_options options = {.name = "players", .capacity = 10000, .object_size = 24};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    for (int i = 0; i < 2000; i++) {
        insert(shared.worker);
    }
    of_table(shared.table, HAFT_NO_MEMORY);
    cr_expect(ne(ptr, strstr(text, "players: no memory: the system refused more than 2,"), NULL));
    cr_expect(ne(ptr, strstr(text, " slots of 32 bytes"), NULL));
}

Test(explain, other_statuses_get_name_and_text)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &tight);

    expect_text(of_table(shared.table, HAFT_STALE), "players: the object has been freed");
}

static char closing[200];

static void explain_closing(void *object, haft_id id, void *arg)
{
    haft_local *const *local = arg;

    if (haft_local_insert(*local, NULL, &id) == HAFT_FULL) {
        haft_local_explain(*local, HAFT_FULL, closing, sizeof closing);
    }
}

Test(explain, of_a_local_table)
{
    haft_local *local;
    const haft_local_options options = {
        .name = "ships",
        .capacity = 3,
        .layout = {8, 1, 0, 0},
        .object_size = 8,
        .on_destroy = explain_closing,
        .destroy_arg = &local,
    };
    haft_id ids[3];

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    for (int i = 0; i < 3; i++) {
        assert_status(haft_local_insert(local, NULL, &ids[i]), HAFT_OK);
    }
    expect_text(of_local(local, HAFT_FULL), "ships: full: capacity 3; 3 live");
    assert_status(haft_local_free(local, ids[0]), HAFT_OK);
    expect_text(of_local(local, HAFT_FULL), "ships: full: capacity 3; 2 live, 1 slot exhausted");
    expect_text(of_local(local, HAFT_NO_MEMORY),
                "ships: no memory: the system refused more than 3 slots of 16 bytes");
    expect_text(of_local(local, HAFT_LOADING), "ships: the table is being loaded");
    haft_local_close(local);
    expect_text(closing, "ships: full: it is being closed");
}

Test(explain, of_a_packed_table)
{
    const haft_packed_options options = {.name = "particles", .capacity = 2, .object_size = 1};
    AT_END(dense_end) haft_packed *packed;
    haft_id id;

    assert_status(haft_packed_open(&options, &packed), HAFT_OK);
    assert_status(haft_packed_insert(packed, NULL, &id), HAFT_OK);
    assert_status(haft_packed_insert(packed, NULL, &id), HAFT_OK);
    expect_text(of_packed(packed, HAFT_FULL), "particles: full: capacity 2; 2 live");
    assert_status(haft_packed_kill(packed, id), HAFT_OK);
    expect_text(of_packed(packed, HAFT_FULL),
                "particles: full: capacity 2; 2 live; 1 dead until the refresh");
    expect_text(of_packed(packed, HAFT_NO_MEMORY),
                "particles: no memory: the system refused more than 2 objects of 1 byte");
    expect_text(of_packed(packed, HAFT_STALE), "particles: the object has been freed");
}

Test(explain, a_text_without_room_is_cut_as_snprintf_cuts)
{
    const haft_local_options options = {.name = "ships", .capacity = 3};
    char small[8] = "1234567";
    AT_END(local_end) haft_local *local = local_open(&options);
    const int whole = (int)strlen(of_local(local, HAFT_FULL));

    cr_expect(eq(int, haft_local_explain(local, HAFT_FULL, small, sizeof small), whole));
    expect_text(small, "ships: ");
    cr_expect(eq(int, haft_local_explain(local, HAFT_FULL, small, 1), whole));
    expect_text(small, "");
    cr_expect(eq(int, haft_local_explain(local, HAFT_FULL, NULL, 0), whole));
}

Test(explain, numbers_have_commas_between_thousands)
{
    const haft_local_options options = {.name = "ships", .capacity = 1234005678};
    AT_END(local_end) haft_local *local;

    need_wide_addresses();
    assert_status(haft_local_open(&options, &local), HAFT_OK);
    expect_text(of_local(local, HAFT_FULL), "ships: full: capacity 1,234,005,678; 0 live");
}

Test(explain, full_of_live_objects_names_the_reservations_beyond_the_capacity)
{
    const haft_table_options options = {.name = "players", .capacity = 10, .object_size = 8};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_id id;

    for (int i = 0; i < 10; i++) {
        insert(shared.worker);
    }
    assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK);
    expect_text(of_table(shared.table, HAFT_FULL),
                "players: full: capacity 10; 10 live, 1 reserved");
    haft_abort(shared.worker, id);
}

Test(explain, full_below_the_capacity_points_to_other_workers)
{
    const haft_table_options options = {.name = "players", .capacity = 10, .object_size = 8};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    insert(shared.worker);
    expect_text(of_table(shared.table, HAFT_FULL),
                "players: full: capacity 10; 1 live; other workers may hold the rest back");
}

Test(explain, in_use_says_what_is_open)
{
    const haft_table_options options = {
        .name = "players", .capacity = 10, .object_size = 8, .pins = true};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_id id = insert(shared.worker);
    haft_side *side;

    haft_section_begin(shared.domain);
    cr_assert(haft_pin(shared.table, id) != NULL);
    haft_section_end(shared.domain);
    assert_status(haft_side_open(shared.table, NULL, &side), HAFT_OK);
    expect_text(of_table(shared.table, haft_table_close(shared.table)),
                "players: in use: 1 worker open, and sides");
    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    expect_text(of_table(shared.table, haft_table_close(shared.table)),
                "players: in use: sides open");
    haft_side_close(side);
    expect_text(of_table(shared.table, haft_table_close(shared.table)),
                "players: in use: objects pinned, or a call under way");
    assert_status(haft_unpin(shared.table, id), HAFT_OK);
    shared.worker = NULL;
}

Test(explain, in_use_without_pins_and_workers_is_a_call_under_way)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &tight);

    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    expect_text(of_table(shared.table, HAFT_IN_USE), "players: in use: a call under way");
    assert_status(haft_worker_open(shared.table, &shared.worker), HAFT_OK);
}

/* haft_trim: callbacks, a second caller, and tables that change between local and shared. */
#include "tests/table/level.h"
#include <haft/memory.h>

TestSuite(trim_reclaim, .timeout = SUITE_SECONDS);
TestSuite(trim_share, .timeout = SUITE_SECONDS);

#define OBJECTS 20000

static haft_id ids[OBJECTS];

static void fill_shared(haft_worker *worker)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_insert(worker, NULL, &ids[i]) == HAFT_OK);
    }
}

static void free_all(haft_worker *worker)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_free(worker, ids[i]) == HAFT_OK);
    }
}

/* --- callbacks --- */

static uint64_t calls[OBJECTS + 1];
static haft_status trim_inside;

static void count_call(void *object, haft_id id, haft_worker *worker, void *arg)
{
    must(worker != NULL);
    calls[haft_id_index(HAFT_LAYOUT_32_32, id) % OBJECTS]++;
    trim_inside = haft_trim(arg == NULL ? haft_worker_table(worker) : arg, NULL);
}

TEST_ON_EACH_CLOCK(trim_reclaim, on_reclaim_runs_once_for_each_object_and_may_not_trim)
{
    const haft_table_options options = {
        .capacity = OBJECTS, .object_size = 24, .on_reclaim = count_call};
    struct shared shared = open_shared(*setting, &options);

    fill_shared(shared.worker);
    free_all(shared.worker);
    settle(shared.worker);
    assert_status(haft_trim(shared.table, NULL), HAFT_OK);
    for (int i = 0; i < OBJECTS; i++) {
        must(calls[i] == 1);
    }
    expect_status(trim_inside, HAFT_IN_CALLBACK);
    cr_expect(eq(u64, stats_of(shared.table).retired, 0));
    close_shared(&shared);
    for (int i = 0; i < OBJECTS; i++) {
        must(calls[i] == 1);
    }
}

static haft_id born[OBJECTS];
static int births;

/* A new one for each that goes. */
static void replace(void *object, haft_id id, haft_worker *worker, void *arg)
{
    if (haft_insert(worker, NULL, &born[births]) == HAFT_OK) {
        births++;
    }
}

TEST_ON_EACH_CLOCK(trim_reclaim, on_reclaim_may_insert_what_then_stays)
{
    const haft_table_options options = {
        .capacity = 2 * OBJECTS, .object_size = 24, .on_reclaim = replace};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

    fill_shared(shared.worker);
    free_all(shared.worker);
    settle(shared.worker);
    assert_status(haft_trim(shared.table, NULL), HAFT_OK);
    cr_expect(lt(int, 0, births));
    for (int i = 0; i < births; i++) {
        must(haft_is_live(shared.view, born[i]));
    }
    cr_expect(eq(u64, stats_of(shared.table).live, (uint64_t)births));
}

/* --- two at once --- */

static sem_t inside;
static sem_t go_on;
static bool closes;

static void stay(void *object, haft_id id, haft_worker *worker, void *arg)
{
    if (closes) {
        return;
    }
    sem_post(&inside);
    while (sem_wait(&go_on) != 0) {
        /* interrupted */
    }
}

static void *trim_there(void *table)
{
    must(haft_trim(table, NULL) == HAFT_OK);
    return NULL;
}

TEST_ON_EACH_CLOCK(trim_reclaim, a_second_thread_is_told_busy_and_others_go_on)
{
    const haft_table_options options = {.capacity = 1000, .object_size = 24, .on_reclaim = stay};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    pthread_t other;
    haft_id id;

    sem_init(&inside, 0, 0);
    sem_init(&go_on, 0, 0);
    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    settle(shared.worker);
    must(pthread_create(&other, NULL, trim_there, shared.table) == 0);
    sem_wait(&inside);
    uint64_t bytes = 42;

    expect_status(haft_trim(shared.table, &bytes), HAFT_BUSY);
    cr_expect(eq(u64, bytes, 42));
    assert_status(haft_insert(shared.worker, NULL, &id), HAFT_OK);
    cr_expect(haft_is_live(shared.view, id));
    sem_post(&go_on);
    pthread_join(other, NULL);
    expect_status(haft_trim(shared.table, NULL), HAFT_OK);
    closes = true;
}

/* --- tables that were local --- */

static const haft_local_options large = {.capacity = OBJECTS, .object_size = sizeof(struct object)};

static void fill_local(haft_local *local)
{
    for (int i = 0; i < OBJECTS; i++) {
        ids[i] = local_insert(local, 0);
    }
}

static void expect_stale_local(haft_local *local)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_resolve(haft_local_view(local), ids[i]) == NULL);
        must(haft_local_diagnose(local, ids[i]) == HAFT_STALE);
    }
}

static void expect_stale(const struct level *level)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_resolve(level->view, ids[i]) == NULL);
        must(haft_diagnose(level->table, ids[i]) == HAFT_STALE);
    }
}

TEST_ON_EACH_CLOCK(trim_share, free_slots_of_the_local_table_are_given_back)
{
    AT_END(close_level) struct level level = open_level(*setting, &large);
    uint64_t bytes = 0;

    fill_local(level.local);
    haft_local_clear(level.local);
    share_level(&level);
    assert_status(haft_trim(level.table, &bytes), HAFT_OK);
    cr_expect(lt(u64, OBJECTS * sizeof(struct object), bytes));
    expect_stale(&level);
    AT_END(worker_end) haft_worker *worker = open_worker(level.table);

    for (int i = 0; i < OBJECTS; i++) {
        must(haft_id_generation(HAFT_LAYOUT_32_32, insert(worker)) <= 2);
    }
    expect_stale(&level);
}

TEST_ON_EACH_CLOCK(trim_share, floors_hold_when_the_table_is_a_local_one_again)
{
    AT_END(close_level) struct level level = open_level(*setting, &large);
    haft_id id;

    share_level(&level);
    haft_worker *worker = open_worker(level.table);

    fill_shared(worker);
    free_all(worker);
    must(haft_worker_close(worker) == HAFT_OK);
    must(haft_domain_wait(level.domain) == HAFT_OK);
    uint64_t bytes = 0;

    assert_status(haft_trim(level.table, &bytes), HAFT_OK);
    cr_expect(lt(u64, 0, bytes));
    unshare_level(&level);
    expect_stale_local(level.local);
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_local_insert(level.local, NULL, &id) == HAFT_OK);
    }
    expect_stale_local(level.local);
}

Test(trim_share, runs_given_back_before_sharing_count_as_given_back)
{
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &large);

    fill_local(level.local);
    haft_local_clear(level.local);
    assert_status(haft_local_trim(level.local, NULL), HAFT_OK);
    const haft_id id = local_insert(level.local, 0); /* a run of them is begun */

    share_level(&level);
    const haft_table_stats stats = stats_of(level.table);

    cr_expect(lt(u64, OBJECTS * 3 / 4, stats.released));
    cr_expect(eq(u64, stats.high_water, OBJECTS));
    cr_expect(eq(u64, stats.live, 1));
    cr_expect(eq(u64, stats.free + stats.released + 1, OBJECTS));
    expect_stale(&level);
    AT_END(worker_end) haft_worker *worker = open_worker(level.table);

    must(haft_free(worker, id) == HAFT_OK);
    settle(worker);
    assert_status(haft_trim(level.table, NULL), HAFT_OK);
    cr_expect(eq(u64, stats_of(level.table).high_water, OBJECTS));
    expect_stale(&level);
}

Test(trim_share, a_table_in_which_a_slot_has_wrapped_keeps_its_memory)
{
    haft_local_options wrapping = large;
    uint64_t bytes = 42;

    wrapping.layout = HAFT_LAYOUT_OF(16, 1, 0);
    wrapping.wrap = true;
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &wrapping);

    fill_local(level.local);
    haft_local_clear(level.local); /* and so generations begin again */
    share_level(&level);
    expect_status(haft_trim(level.table, &bytes), HAFT_BAD_WRAP);
    cr_expect(eq(u64, bytes, 42));
}

TEST_ON_EACH_CLOCK(trim_share, failed_frees_bring_no_page_back_that_was_given_back_before_sharing)
{
    enum { PAGES = OBJECTS / 10 };
    const haft_local_options pages = {.capacity = PAGES, .object_size = 4088};
    AT_END(close_level) struct level level = open_level(*setting, &pages);
    uint64_t bytes = 0;

    for (int i = 0; i < PAGES; i++) {
        must(haft_local_insert(level.local, NULL, &ids[i]) == HAFT_OK);
    }
    haft_local_clear(level.local);
    assert_status(haft_local_trim(level.local, &bytes), HAFT_OK);
    cr_assert(lt(u64, PAGES * UINT64_C(4000), bytes));
    share_level(&level);
    AT_END(worker_end) haft_worker *worker = open_worker(level.table);
    const long before = resident_pages();

    for (int i = 0; i < PAGES; i++) {
        must(haft_free(worker, ids[i]) == HAFT_STALE);
        must(haft_resolve(level.view, ids[i]) == NULL);
    }
    cr_expect(lt(long, pages_written_since(before), 500));
}

TEST_ON_EACH_CLOCK(trim_share, nil_is_nothing_in_a_table_trimmed_before)
{
    AT_END(close_level) struct level level = open_level(*setting, &large);
    haft_id id;

    fill_local(level.local);
    haft_local_clear(level.local);
    assert_status(haft_local_trim(level.local, NULL), HAFT_OK);
    share_level(&level);
    AT_END(worker_end) haft_worker *worker = open_worker(level.table);

    cr_expect(eq(ptr, haft_resolve(level.view, HAFT_NIL), NULL));
    expect_status(haft_diagnose(level.table, HAFT_NIL), HAFT_NO_ID);
    expect_status(haft_free(worker, HAFT_NIL), HAFT_NO_ID);
    must(haft_insert(worker, NULL, &id) == HAFT_OK);
    must(haft_free(worker, id) == HAFT_OK);
    settle(worker);
    assert_status(haft_trim(level.table, NULL), HAFT_OK);
    cr_expect(eq(ptr, haft_resolve(level.view, HAFT_NIL), NULL));
    expect_status(haft_free(worker, HAFT_NIL), HAFT_NO_ID);
}

/* What shared tables can do besides, by one thread, with each clock. */
#include "portable.h"

#define MANY 300

static void test_many(enum circumstance circumstance)
{
    struct shared shared;
    haft_id ids[MANY];
    haft_status why = HAFT_FULL, statuses[MANY];

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    CHECK(haft_insert_many(shared.worker, NULL, ids, MANY - 1, &why) == MANY - 1);
    CHECK(why == HAFT_OK);
    ids[MANY - 1] = ids[0];
    CHECK(haft_free_many(shared.worker, ids, MANY, statuses) == MANY - 1);
    CHECK(statuses[0] == HAFT_OK && statuses[MANY - 1] == HAFT_STALE);
    shared_close(&shared);
}

static bool visit(haft_id id, void *object, void *arg)
{
    (void)id;
    *(uint64_t *)arg += *(const uint64_t *)object;
    return true;
}

static void test_scan(enum circumstance circumstance)
{
    struct shared shared;
    haft_range ranges[3];
    uint64_t sum = 0, in_parts = 0, in_cursor = 0;
    haft_id id;
    void *object;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    for (uint64_t i = 1; i <= 100; i++) {
        CHECK_OK(haft_insert(shared.worker, &i, &id));
    }
    haft_section_begin(shared.domain);
    CHECK(haft_scan(shared.table, HAFT_EVERYTHING, visit, &sum) == 100 && sum == 5050);
    haft_scan_ranges(shared.table, ranges, 3);
    for (int i = 0; i < 3; i++) {
        haft_scan(shared.table, ranges[i], visit, &in_parts);
    }
    CHECK(in_parts == 5050);
    haft_cursor cursor = haft_cursor_over(shared.table, HAFT_EVERYTHING);

    while (haft_cursor_next(&cursor, &id, &object)) {
        in_cursor += *(const uint64_t *)object;
    }
    CHECK(in_cursor == 5050);
    haft_section_end(shared.domain);
    const haft_range used = haft_used_range(shared.table, HAFT_EVERYTHING);

    CHECK(used.to - used.from >= 100);
    shared_close(&shared);
}

static void count_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)id;
    (void)worker;
    ++*(uint64_t *)arg;
}

static void test_pins(enum circumstance circumstance)
{
    uint64_t reclaimed = 0;
    const haft_table_options options = {.capacity = 1000,
                                        .object_size = sizeof(uint64_t),
                                        .pins = true,
                                        .on_reclaim = count_reclaim,
                                        .reclaim_arg = &reclaimed};
    struct shared shared;
    const uint64_t seven = 7;
    haft_id id;

    if (!shared_open(&shared, circumstance, &options)) {
        return;
    }
    CHECK(haft_table_info(shared.table).pins);
    CHECK_OK(haft_insert(shared.worker, &seven, &id));
    haft_section_begin(shared.domain);
    const uint64_t *kept = haft_pin(shared.table, id);

    haft_section_end(shared.domain);
    CHECK(kept != NULL && haft_pins(shared.table, id) == 1);
    CHECK_OK(haft_free(shared.worker, id));
    for (int i = 0; i < 3; i++) {
        shared_grace(&shared);
        CHECK_OK(haft_worker_quiescent(shared.worker));
    }
    CHECK(*kept == 7 && reclaimed == 0 && haft_pin(shared.table, id) == NULL);
    CHECK_OK(haft_unpin(shared.table, id));
    CHECK(haft_unpin(shared.table, id) == HAFT_NOT_PINNED);
    for (int i = 0; i < 3; i++) {
        shared_grace(&shared);
        CHECK_OK(haft_worker_quiescent(shared.worker));
    }
    CHECK(reclaimed == 1);
    shared_close(&shared);
}

/* 20,000 objects come and go; what is released is zero when it comes back. */
static void test_trim(enum circumstance circumstance)
{
    enum { COUNT = 20000 };
    static haft_id ids[COUNT];
    const haft_table_options options = {.capacity = COUNT, .object_size = 120};
    struct shared shared;
    uint64_t released = 0;

    if (!shared_open(&shared, circumstance, &options)) {
        return;
    }
    CHECK(haft_insert_many(shared.worker, NULL, ids, COUNT, NULL) == COUNT);
    CHECK(haft_free_many(shared.worker, ids, COUNT, NULL) == COUNT);
    shared_grace(&shared);
    CHECK_OK(haft_reserve_capacity(shared.table, COUNT));
    CHECK(haft_reserve_capacity(shared.table, UINT64_MAX) == HAFT_FULL);
    CHECK_OK(haft_trim(shared.table, &released));
#ifdef HAFT_OS_BARE
    CHECK(released == 0); /* to no system */
#else
    CHECK(circumstance_has_memory(circumstance) ? released == 0 : released > COUNT * 64);
#endif
    CHECK(haft_insert_many(shared.worker, NULL, ids, COUNT, NULL) == COUNT);
    CHECK(haft_table_stats_get(shared.table).live == COUNT && shared_is_right(&shared));
    shared_close(&shared);
}

static void test_share(enum circumstance circumstance)
{
    const haft_local_options options = {
        .capacity = 1000, .object_size = sizeof(uint64_t), .will_share = true};
    const haft_share_options how = {0};
    struct shared shared;
    haft_local *local = NULL;
    haft_table *table = NULL;
    haft_worker *worker = NULL;
    const uint64_t seven = 7;
    haft_id id, other;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    CHECK_OK(haft_local_open(&options, &local));
    CHECK_OK(haft_local_insert(local, &seven, &id));
    const haft_view view = haft_local_view(local);
    const void *object = haft_resolve(view, id);

    CHECK_OK(haft_share(local, shared.domain, &how, &table));
    CHECK_OK(haft_worker_open(table, &worker));
    CHECK_OK(haft_insert(worker, &seven, &other));
    CHECK(haft_resolve(haft_table_view(table), id) == object);
    CHECK_OK(haft_free(worker, id));
    CHECK_OK(haft_worker_close(worker));
    CHECK_OK(haft_unshare(table, &local));
    CHECK(haft_local_count(local) == 1 && haft_local_diagnose(local, id) == HAFT_STALE);
    CHECK_OK(haft_share_sized(local, shared.domain, &how, sizeof how, &table));
    CHECK(haft_is_live(view, other));
    CHECK_OK(haft_table_clear(table));
    CHECK(haft_worker_open(table, &worker) == HAFT_CLOSED);
    CHECK(haft_diagnose(table, other) == HAFT_STALE);
    CHECK_OK(haft_table_close(table));
    shared_close(&shared);
}

static void test_table_free(enum circumstance circumstance)
{
    struct shared shared;
    const uint64_t seven = 7;
    haft_id id = HAFT_NIL;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    CHECK_OK(haft_insert(shared.worker, &seven, &id));
    CHECK_OK(haft_table_free(shared.table, id));
    CHECK(haft_table_free(shared.table, id) == HAFT_STALE);
    CHECK(!haft_is_live(haft_table_view(shared.table), id));
    shared_close(&shared);
}

static void insert_and_end(void *arg)
{
    haft_table *table = arg;
    const uint64_t seven = 7;
    haft_worker *worker = NULL;
    haft_id id;

    CHECK_OK(haft_worker_open(table, &worker));
    CHECK_OK(haft_insert(worker, &seven, &id));
    CHECK(haft_table_stats_get(table).workers == 2);
    CHECK_OK(haft_worker_close(worker));
}

/* Threads that come for a while. */
static void test_guests(enum circumstance circumstance)
{
    struct shared shared;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        struct thread *thread = thread_start(insert_and_end, shared.table);

        if (thread == NULL) {
            skip("no threads");
            break;
        }
        thread_join(thread);
        CHECK(haft_table_stats_get(shared.table).workers == 1);
    }
    shared_close(&shared);
}

static void test_jobs(enum circumstance circumstance)
{
    struct shared shared;
    const uint64_t seven = 7;
    haft_id id;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    const haft_view view = haft_table_view(shared.table);

    CHECK_OK(haft_insert(shared.worker, &seven, &id));
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);
    const uint64_t *found = haft_resolve(view, id);

    CHECK(found != NULL && haft_free(shared.worker, id) == HAFT_OK);
    if (circumstance_clock(circumstance) != HAFT_CLOCK_FRAME) {
        CHECK(haft_domain_wait(shared.domain) == HAFT_IN_SECTION);
    }
    CHECK(*found == 7);
    haft_job_end(shared.domain, inner);
    haft_job_end(shared.domain, outer);
    const haft_job_state parked = haft_thread_park(shared.domain);

    haft_thread_unpark(shared.domain, parked);
    haft_thread_offline(shared.domain);
    haft_thread_online(shared.domain);
    shared_grace(&shared);
    shared_close(&shared);
}

const struct test feature_tests[] = {
    {"many", "reserve, insert, free many", IN_SHARED, test_many},
    {"scan", "visitors, ranges, cursors", IN_SHARED, test_scan},
    {"pin", "a pinned object outlives its id", IN_SHARED, test_pins},
    {"share", "local, shared, local", IN_SHARED, test_share},
    {"memory", "trim", IN_SHARED, test_trim},
    {"threads", "a free without a worker", IN_SHARED, test_table_free},
    {"threads", "workers of threads that come and go", IN_SHARED, test_guests},
    {"domain", "jobs", IN_SHARED, test_jobs},
    {NULL, NULL, 0, NULL},
};

/* The shared table, by one thread, with each clock. */
#include "portable.h"
#include <string.h>

static void check_properties(const struct shared *shared)
{
    const haft_info info = haft_table_info(shared->table);

    CHECK(strcmp(info.name, "things") == 0 && info.domain == shared->domain);
    CHECK(info.object_size == 8 && info.layout.generation_bits == 32 && !info.pins);
    CHECK(haft_worker_table(shared->worker) == shared->table);
}

static void test_life(enum circumstance circumstance)
{
    const haft_table_options options = {
        .name = "things", .capacity = 1000, .object_size = sizeof(uint64_t)};
    struct shared shared;
    const uint64_t seven = 7;
    haft_id id = HAFT_NIL, other = HAFT_NIL;
    void *object = NULL;

    if (!shared_open(&shared, circumstance, &options)) {
        return;
    }
    const haft_view view = haft_table_view(shared.table);

    check_properties(&shared);
    CHECK_OK(haft_insert(shared.worker, &seven, &id));
    CHECK_OK(haft_reserve(shared.worker, &other, &object));
    *(uint64_t *)object = 8;
    CHECK(haft_diagnose(shared.table, other) == HAFT_RESERVED && !haft_is_live(view, other));
    haft_publish(shared.worker, other);
    haft_section_begin(shared.domain);
    const uint64_t *found = haft_resolve(view, id);

    CHECK(found != NULL && *found == 7 && haft_resolve(view, other) == object);
    CHECK(haft_require(shared.table, view, id) == found);
    CHECK_OK(haft_free(shared.worker, id));
    CHECK(haft_free(shared.worker, id) == HAFT_STALE && *found == 7); /* still readable */
    haft_section_end(shared.domain);
    CHECK(haft_diagnose(shared.table, id) == HAFT_STALE && !haft_is_live(view, id));
    CHECK_OK(haft_reserve(shared.worker, &id, NULL));
    haft_abort(shared.worker, id);
    CHECK(haft_diagnose(shared.table, id) == HAFT_STALE);
    CHECK_OK(haft_insert_wait(shared.worker, &seven, &id));
    CHECK_OK(haft_reserve_wait(shared.worker, &id, NULL));
    haft_publish(shared.worker, id);
    const haft_table_stats stats = haft_table_stats_get(shared.table);

    CHECK(stats.live == 3 && stats.refused_frees == 1);
    shared_close(&shared);
}

static void test_full(enum circumstance circumstance)
{
    const haft_table_options options = {.capacity = 252, .object_size = 8, .layout = {8, 24, 0, 0}};
    struct shared shared;
    haft_id ids[253];
    char text[200];

    if (!shared_open(&shared, circumstance, &options)) {
        return;
    }
    for (int i = 0; i < 252; i++) {
        CHECK_OK(haft_insert(shared.worker, NULL, &ids[i]));
    }
    CHECK(haft_insert(shared.worker, NULL, &ids[252]) == HAFT_FULL);
    CHECK(haft_table_explain(shared.table, HAFT_FULL, text, sizeof text) > 0);
    CHECK(strstr(text, "full") != NULL);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 252; i++) {
            CHECK_OK(haft_free(shared.worker, ids[i]));
        }
        shared_grace(&shared);
        for (int i = 0; i < 252; i++) {
            CHECK_OK(haft_insert(shared.worker, NULL, &ids[i]));
        }
    }
    CHECK(haft_diagnose_format(shared.table, ids[0], text, sizeof text) > 0);
    CHECK(strstr(text, "HAFT_OK") != NULL);
    shared_close(&shared);
}

/* Frees and inserts without end: slots come back after grace periods. */
static void test_reuse(enum circumstance circumstance)
{
    const haft_table_options options = {.capacity = 3000, .object_size = 16};
    struct shared shared;
    haft_id id;

    if (!shared_open(&shared, circumstance, &options)) {
        return;
    }
    for (int i = 0; i < 20000; i++) {
        CHECK_OK(haft_insert_wait(shared.worker, NULL, &id));
        CHECK_OK(haft_free(shared.worker, id));
        if (i % 100 == 99) {
            CHECK_OK(haft_worker_quiescent(shared.worker));
            if (circumstance_clock(circumstance) == HAFT_CLOCK_FRAME) {
                CHECK_OK(haft_domain_tick(shared.domain));
            }
        }
    }
    const haft_table_stats stats = haft_table_stats_get(shared.table);

    CHECK(stats.created == 20000 && stats.freed == 20000 && stats.live == 0);
    CHECK(stats.high_water < 20000 && stats.clock.grace_periods > 0);
    CHECK(haft_domain_stats_get(shared.domain).grace_periods > 0);
    shared_close(&shared);
}

static void test_refusals(enum circumstance circumstance)
{
    struct shared shared;
    haft_domain *domain = NULL;
    haft_table *table = NULL;
    haft_domain_options options = {.clock = HAFT_CLOCK_COUNT};
    haft_table_options of_table = {.capacity = 0};

    CHECK(haft_domain_open(&options, &domain) == HAFT_BAD_CLOCK);
    options = (haft_domain_options){.clock = HAFT_CLOCK_CALLER};
    CHECK(haft_domain_open_sized(&options, sizeof options, &domain) == HAFT_BAD_FOREIGN_CLOCK);
    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    CHECK(haft_table_open(shared.domain, &of_table, &table) == HAFT_BAD_CAPACITY);
    CHECK(haft_table_open_sized(shared.domain, &of_table, sizeof of_table, &table) ==
          HAFT_BAD_CAPACITY);
    CHECK(haft_domain_close(shared.domain) == HAFT_IN_USE);
    CHECK(haft_table_close(shared.table) == HAFT_IN_USE);
    if (circumstance_clock(circumstance) != HAFT_CLOCK_FRAME) {
        CHECK(haft_domain_tick(shared.domain) == HAFT_WRONG_CLOCK);
    }
    shared_close(&shared);
}

/* Answers inside a callback; the object is there until it ends. */
struct reclaimed {
    haft_domain *domain;
    uint64_t calls;
    uint64_t sum;
};

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct reclaimed *reclaimed = arg;

    (void)worker;
    CHECK(!haft_id_is_nil(id));
    CHECK(haft_domain_wait(reclaimed->domain) == HAFT_IN_CALLBACK);
    reclaimed->calls++;
    reclaimed->sum += *(uint64_t *)object;
}

static void test_reclaim(enum circumstance circumstance)
{
    struct reclaimed reclaimed = {NULL, 0, 0};
    const haft_table_options options = {.capacity = 1000,
                                        .object_size = sizeof(uint64_t),
                                        .on_reclaim = on_reclaim,
                                        .reclaim_arg = &reclaimed};
    struct shared shared;
    haft_id id;

    if (!shared_open(&shared, circumstance, &options)) {
        return;
    }
    reclaimed.domain = shared.domain;
    for (uint64_t i = 1; i <= 500; i++) {
        CHECK_OK(haft_insert(shared.worker, &i, &id));
        CHECK_OK(haft_free(shared.worker, id));
    }
    CHECK(reclaimed.calls < 500); /* the thread clock may be quick: insertions reclaim, too */
    shared_grace(&shared);
    for (int i = 0; i < 10; i++) {
        CHECK_OK(haft_worker_quiescent(shared.worker));
    }
    CHECK(reclaimed.calls == 500 && reclaimed.sum == 125250);
    CHECK_OK(haft_table_reclaim(shared.table));
    shared_close(&shared);
    CHECK(reclaimed.calls == 500);
}

const struct test table_tests[] = {
    {"table", "reserve, insert, resolve, free", IN_SHARED, test_life},
    {"table", "full", IN_SHARED, test_full},
    {"table", "20,000 lives in few slots", IN_SHARED, test_reuse},
    {"table", "on_reclaim", IN_SHARED, test_reclaim},
    {"table", "refused options and calls", IN_SHARED, test_refusals},
    {NULL, NULL, 0, NULL},
};

/* What tables take of the system: address space, and on Windows memory that is committed. */
#include "portable.h"
#include <string.h>

#define TABLES 2000
#define CAPACITY UINT64_C(1000000)
#define OBJECT_SIZE 24
#define SLACK (UINT64_C(512) << 10) /* the heap grows, too */

#ifdef _WIN32
#define IS_COUNTED 1
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

static uint64_t committed(void)
{
    MEMORY_BASIC_INFORMATION region;
    const char *at = NULL;
    uint64_t bytes = 0;

    while (VirtualQuery(at, &region, sizeof region) != 0) {
        bytes += region.State == MEM_COMMIT && region.Type == MEM_PRIVATE ? region.RegionSize : 0;
        at = (const char *)region.BaseAddress + region.RegionSize;
    }
    return bytes;
}
#else
#define IS_COUNTED 0

static uint64_t committed(void)
{
    return 0;
}
#endif

/* Since `before`, as said; or, in steps, at most that. */
static void check_committed(uint64_t before, const haft_footprint *footprint, bool in_steps)
{
    const uint64_t more = committed() - before;

    CHECK(footprint->committed <= footprint->bytes);
    CHECK(footprint->capacity >= CAPACITY);
    CHECK(more <= footprint->committed + SLACK);
    CHECK(!IS_COUNTED || in_steps || more + SLACK >= footprint->committed);
}

static void test_local_committed(enum circumstance circumstance)
{
    const haft_local_options options = {.capacity = CAPACITY, .object_size = OBJECT_SIZE};
    haft_footprint footprint = {.bytes = 0};
    const uint64_t before = committed();
    haft_local *local;

    (void)circumstance;
    CHECK_OK(haft_local_footprint(&options, &footprint));
    if (CHECK_OK(haft_local_open(&options, &local))) {
        check_committed(before, &footprint, false);
        haft_local_close(local);
    }
}

static void test_counted_committed(enum circumstance circumstance)
{
    const haft_counted_options options = {.capacity = CAPACITY, .object_size = OBJECT_SIZE};
    haft_footprint footprint = {.bytes = 0};
    const uint64_t before = committed();
    haft_counted *table;
    haft_id id = HAFT_NIL;

    (void)circumstance;
    CHECK_OK(haft_counted_footprint(&options, &footprint));
    CHECK(footprint.committed <= footprint.bytes / 16);
    if (!CHECK_OK(haft_counted_open(&options, &table))) {
        return;
    }
    check_committed(before, &footprint, true);
    haft_status status = HAFT_OK;

    for (uint64_t i = 0; i < CAPACITY / 2 && status == HAFT_OK; i++) {
        status = haft_counted_insert(table, NULL, &id);
    }
    CHECK_OK(status);
    CHECK(haft_counted_acquire(table, id) != NULL);
    CHECK_OK(haft_counted_release(table, id));
    id.bits += CAPACITY / 4; /* a slot that was never used */
    CHECK(haft_counted_acquire(table, id) == NULL);
    CHECK(committed() - before <= footprint.bytes / 2 + footprint.bytes / 16);
    CHECK_OK(haft_counted_close(table));
}

/* What each call that takes an id says of one that was never issued. */
static void check_never_issued(haft_counted *table, haft_id id)
{
    uint64_t value[4];

    CHECK(haft_counted_acquire(table, id) == NULL);
    CHECK(!haft_counted_again(table, id));
    CHECK(!haft_counted_is_live(table, id));
    CHECK(!haft_counted_copy(table, id, value));
    CHECK(haft_counted_release(table, id) == HAFT_NOT_HELD);
    CHECK(haft_counted_take(table, id, value) == HAFT_NEVER_ISSUED);
    CHECK(haft_counted_free(table, id) == HAFT_NEVER_ISSUED);
    CHECK(haft_counted_diagnose(table, id) == HAFT_NEVER_ISSUED);
}

static void check_inserted(haft_counted *table, haft_id id, const uint64_t *value, size_t size)
{
    uint64_t copied[4] = {0};
    const void *object = haft_counted_acquire(table, id);

    CHECK(object != NULL && memcmp(object, value, size) == 0);
    CHECK_OK(haft_counted_release(table, id));
    CHECK(haft_counted_copy(table, id, copied) && memcmp(copied, value, size) == 0);
}

/* Slots are used one after another, and ids are forged of all sizes of steps beyond. */
static void forge_ids(size_t object_size, uint64_t min_free)
{
    const haft_counted_options options = {.capacity = CAPACITY / 20,
                                          .object_size = object_size,
                                          .min_free = min_free,
                                          .copies = true};
    const uint64_t value[4] = {1, 2, 3, 4};
    const uint64_t first = HAFT_FIRST_INDEX + min_free;
    haft_counted *table;

    if (!CHECK_OK(haft_counted_open(&options, &table))) {
        return;
    }
    for (uint64_t i = 0; i < options.capacity; i++) {
        haft_id id = HAFT_NIL;
        haft_id next = HAFT_NIL;
        const bool is_looked_at = i % 2500 == 0;

        for (uint64_t more = 1; is_looked_at && more < options.capacity - i; more *= 2) {
            check_never_issued(table, (haft_id){UINT64_C(1) << 32 | (first + i + more)});
        }
        if (is_looked_at) {
            CHECK(haft_counted_id_at(table, first + i, &next) == HAFT_NEVER_ISSUED);
        }
        if (haft_counted_insert(table, value, &id) != HAFT_OK || is_looked_at) {
            CHECK(id.bits == next.bits);
            check_inserted(table, id, value, object_size);
        }
    }
    CHECK_OK(haft_counted_close(table));
}

static void test_forged(enum circumstance circumstance)
{
    (void)circumstance;
    forge_ids(8, 0);
    forge_ids(8, 1);
    forge_ids(32, 0);
}

static void test_table_committed(enum circumstance circumstance)
{
    const haft_table_options options = {.capacity = CAPACITY, .object_size = OBJECT_SIZE};
    haft_footprint footprint = {.bytes = 0};
    haft_domain *domain;
    haft_table *table;

    (void)circumstance;
    CHECK_OK(haft_table_footprint_sized(&options, sizeof options, &footprint));
    CHECK_OK(haft_table_footprint(&options, &footprint));
    if (!CHECK_OK(haft_domain_open(NULL, &domain))) {
        return;
    }
    const uint64_t before = committed();

    if (CHECK_OK(haft_table_open(domain, &options, &table))) {
        check_committed(before, &footprint, false);
        CHECK_OK(haft_table_close(table));
    }
    CHECK_OK(haft_domain_close(domain));
}

static void test_many(enum circumstance circumstance)
{
    static haft_table *tables[TABLES];
    const haft_table_options options = {.capacity = 100, .object_size = OBJECT_SIZE};
    struct shared shared;
    int opened = 0;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    while (opened < TABLES && CHECK_OK(haft_table_open(shared.domain, &options, &tables[opened]))) {
        opened++;
    }
    for (int i = 0; i < opened; i++) {
        haft_worker *worker;
        haft_id id;

        if (i % 100 == 0 && CHECK_OK(haft_worker_open(tables[i], &worker))) {
            CHECK_OK(haft_insert(worker, NULL, &id));
            CHECK(haft_is_live(haft_table_view(tables[i]), id));
            CHECK_OK(haft_free(worker, id));
            CHECK_OK(haft_worker_close(worker));
        }
        CHECK_OK(haft_table_close(tables[i]));
    }
    shared_close(&shared);
}

const struct test memory_tests[] = {
    {"memory", "a local table commits what it says", IN_SINGLE, test_local_committed},
    {"memory", "a counted table what is used", IN_SINGLE, test_counted_committed},
    {"memory", "ids of slots never used", IN_SINGLE, test_forged},
    {"memory", "a shared table what it says", BIT(WORKERS), test_table_committed},
    {"memory", "2,000 shared tables", BIT(WORKERS), test_many},
    {NULL, NULL, 0, NULL},
};

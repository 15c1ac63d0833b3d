/* Values of another type under a table's ids. */
#include "portable.h"

static void count_end(void *value, haft_id id, void *arg)
{
    (void)value;
    (void)id;
    ++*(uint64_t *)arg;
}

static bool add_value(haft_id id, void *object, void *value, void *arg)
{
    (void)id;
    (void)object;
    *(uint64_t *)arg += *(uint64_t *)value;
    return true;
}

static void test_local(enum circumstance circumstance)
{
    const haft_local_options ships = {.capacity = 100, .object_size = sizeof(uint64_t)};
    uint64_t ends = 0, sum = 0;
    const haft_side_options hulls = {
        .value_size = sizeof(uint64_t), .on_end = count_end, .end_arg = &ends};
    haft_local *local = NULL;
    haft_side *side = NULL;
    void *object, *place = NULL;
    haft_id a, b;

    (void)circumstance;
    CHECK_OK(haft_local_open(&ships, &local));
    CHECK_OK(haft_side_open_local(local, &hulls, &side));
    const haft_entries entries = haft_side_entries(side);

    CHECK_OK(haft_local_insert(local, NULL, &a));
    CHECK_OK(haft_local_insert(local, NULL, &b));
    CHECK(haft_side_get(entries, a) == NULL);
    CHECK_OK(haft_side_set(side, a, &(uint64_t){5}, &place));
    CHECK(haft_side_get(entries, a) == place && *(uint64_t *)place == 5);
    CHECK(haft_side_set(side, a, NULL, NULL) == HAFT_OCCUPIED);
    CHECK_OK(haft_side_set(side, b, &(uint64_t){7}, NULL));
    CHECK(haft_side_for_each(side, add_value, &sum) == 2 && sum == 12);
    CHECK(*(uint64_t *)haft_side_find(entries, haft_local_view(local), b, &object) == 7);
    CHECK(object == haft_resolve(haft_local_view(local), b));
    CHECK(haft_side_remove(side, a) && !haft_side_remove(side, a) && ends == 1);
    CHECK_OK(haft_local_free(local, b));
    CHECK(haft_side_sweep(side) == 1 && ends == 2);
    haft_side_close(side);
    CHECK_OK(haft_side_open_local_sized(local, NULL, 0, &side));
    haft_side_close(side);
    haft_local_close(local);
}

static void test_shared(enum circumstance circumstance)
{
    const haft_side_options options = {.value_size = sizeof(uint64_t)};
    struct shared shared;
    haft_side *side = NULL;
    haft_id id;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    CHECK_OK(haft_side_open_sized(shared.table, &options, sizeof options, &side));
    haft_side_close(side);
    CHECK_OK(haft_side_open(shared.table, &options, &side));
    const haft_entries entries = haft_side_entries(side);
    const haft_view view = haft_table_view(shared.table);

    CHECK_OK(haft_insert(shared.worker, &(uint64_t){1}, &id));
    haft_section_begin(shared.domain);
    CHECK(haft_resolve(view, id) != NULL && haft_side_get(entries, id) == NULL);
    CHECK_OK(haft_side_set(side, id, &(uint64_t){9}, NULL));
    CHECK(*(uint64_t *)haft_side_find(entries, view, id, NULL) == 9);
    haft_section_end(shared.domain);
    CHECK_OK(haft_free(shared.worker, id));
    CHECK(haft_side_find(entries, view, id, NULL) == NULL);
    haft_side_close(side);
    shared_close(&shared);
}

const struct test side_tests[] = {
    {"sides", "of a local table", IN_SINGLE, test_local},
    {"sides", "of a shared table", IN_SHARED, test_shared},
    {NULL, NULL, 0, NULL},
};

/* The table of one thread that keeps its objects dense, and typed tables. */
#include "portable.h"
#include <string.h>

static haft_packed *open_packed(haft_packed_options options)
{
    haft_packed *packed = NULL;

    options.capacity = 100;
    options.object_size = sizeof(uint32_t);
    CHECK_OK(haft_packed_open(&options, &packed));
    return packed;
}

static void fill(haft_packed *packed, haft_id *ids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t value = (i * 7) % count;

        CHECK_OK(haft_packed_insert(packed, &value, &ids[i]));
    }
}

static void test_life(enum circumstance circumstance)
{
    haft_packed *packed = open_packed((haft_packed_options){.name = "dense"});
    const haft_dense_view view = haft_packed_view(packed);
    const haft_info info = haft_packed_info(packed);
    char text[200];
    uint64_t position = 9;
    haft_id ids[4];

    (void)circumstance;
    CHECK(haft_packed_is_empty(packed));
    CHECK(strcmp(info.name, "dense") == 0 && info.capacity == 100);
    CHECK(info.object_size == sizeof(uint32_t) && info.layout.index_bits == 32);
    fill(packed, ids, 4);
    CHECK(haft_packed_count(packed) == 4 && haft_packed_available(packed) == 96);
    CHECK(*(uint32_t *)haft_packed_resolve(view, ids[1]) == 3);
    CHECK(haft_packed_require(packed, view, ids[1]) == haft_packed_resolve(view, ids[1]));
    CHECK(haft_packed_state(packed, ids[1]) == HAFT_PACKED_ALIVE);
    CHECK_OK(haft_packed_free(packed, ids[0]));
    CHECK(!haft_packed_is_live(view, ids[0]) && haft_packed_free(packed, ids[0]) == HAFT_STALE);
    CHECK(haft_packed_diagnose(packed, ids[0]) == HAFT_STALE);
    CHECK_OK(haft_packed_position(packed, ids[3], &position));
    CHECK(position == 0 && haft_id_equal(haft_packed_id_in(packed, 0), ids[3]));
    CHECK(haft_id_equal(haft_packed_ids(packed)[0], ids[3]));
    CHECK(haft_packed_objects(packed) == haft_packed_resolve(view, ids[3]));
    CHECK(haft_packed_explain(packed, HAFT_FULL, text, sizeof text) > 0);
    CHECK(haft_packed_diagnose_format(packed, ids[0], text, sizeof text) > 0);
    CHECK(strstr(text, "HAFT_STALE") != NULL);
    haft_packed_close(packed);
}

static void count_end(void *object, haft_id id, void *arg)
{
    (void)object;
    (void)id;
    ++*(uint64_t *)arg;
}

static void test_kill(enum circumstance circumstance)
{
    uint64_t ends = 0;
    haft_packed *packed = open_packed(
        (haft_packed_options){.on_destroy = count_end, .destroy_arg = &ends, .keep_order = true});
    haft_id ids[10];

    (void)circumstance;
    fill(packed, ids, 10);
    CHECK_OK(haft_packed_kill(packed, ids[2]));
    CHECK(haft_packed_kill(packed, ids[2]) == HAFT_DEAD);
    CHECK(haft_packed_dead_count(packed) == 1);
    CHECK(haft_packed_state_in(packed, 2) == HAFT_PACKED_DEAD);
    CHECK_OK(haft_packed_refresh(packed));
    CHECK(ends == 1 && haft_packed_count(packed) == 9);
    CHECK(haft_id_equal(haft_packed_id_in(packed, 2), ids[3]));
    CHECK_OK(haft_packed_clear(packed));
    CHECK(ends == 10 && haft_packed_is_empty(packed));
    haft_packed_close(packed);
}

static int compare(const void *a, const void *b, void *arg)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    ++*(uint64_t *)arg;
    return (left > right) - (left < right);
}

static void test_sort(enum circumstance circumstance)
{
    haft_packed *packed = open_packed((haft_packed_options){.growth_step = HAFT_PACKED_FIXED});
    const haft_dense_view view = haft_packed_view(packed);
    uint64_t comparisons = 0;
    haft_id ids[20];

    (void)circumstance;
    fill(packed, ids, 20);
    CHECK_OK(haft_packed_sort(packed, compare, &comparisons));
    CHECK(comparisons >= 19);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK(((uint32_t *)haft_packed_objects(packed))[i] == i);
        CHECK(*(uint32_t *)haft_packed_resolve(view, ids[i]) == (i * 7) % 20);
    }
    CHECK_OK(haft_packed_sort_as(packed, ids, 20));
    CHECK(memcmp(haft_packed_ids(packed), ids, sizeof ids) == 0);
    CHECK_OK(haft_packed_sort_n(packed, 10, compare, &comparisons));
    CHECK(*(uint32_t *)haft_packed_objects(packed) == 0);
    CHECK(haft_id_equal(haft_packed_id_in(packed, 10), ids[10]));
    CHECK_OK(haft_packed_swap(packed, ids[0], ids[10]));
    CHECK(haft_id_equal(haft_packed_id_in(packed, 10), ids[0]));
    CHECK(haft_packed_resolve(view, ids[10]) == haft_packed_objects(packed));
    haft_packed_close(packed);
}

static void test_options(enum circumstance circumstance)
{
    haft_packed_options options = {.capacity = 0, .object_size = 4};
    haft_packed *packed = NULL;

    (void)circumstance;
    CHECK(haft_packed_open(&options, &packed) == HAFT_BAD_CAPACITY);
    options = (haft_packed_options){.capacity = 4, .object_size = 0};
    CHECK(haft_packed_open_sized(&options, sizeof options, &packed) == HAFT_BAD_OBJECT_SIZE);
    CHECK(packed == NULL);
}

const struct test packed_tests[] = {
    {"packed", "insert, resolve, free", IN_SINGLE, test_life},
    {"packed", "kill and refresh", IN_SINGLE, test_kill},
    {"packed", "sort", IN_SINGLE, test_sort},
    {"packed", "options refused", IN_SINGLE, test_options},
    {NULL, NULL, 0, NULL},
};

/* --- haft/typed.h --- */

HAFT_TYPED_ID(ship);
struct ship {
    ship_id target;
    uint32_t crew;
};
HAFT_TYPED(ship, struct ship);
HAFT_TYPED_LOCAL(ship);
HAFT_TYPED_PACKED(ship);

static void test_typed(enum circumstance circumstance)
{
    const struct ship beagle = {.crew = 74};
    const haft_local_options options = {.capacity = 10};
    const haft_packed_options dense = {.capacity = 10};
    ship_local ships = {0};
    ship_packed fleet = {0};
    ship_id id = ship_id_nil();

    (void)circumstance;
    CHECK_OK(ship_local_open(&options, &ships));
    CHECK_OK(ship_local_insert(ships, &beagle, &id));
    CHECK(!ship_id_is_nil(id) && ship_resolve(ships.view, id)->crew == 74);
    CHECK_OK(ship_local_free(ships, id));
    CHECK(ship_resolve(ships.view, id) == NULL);
    ship_local_close(ships);
    CHECK_OK(ship_packed_open(&dense, &fleet));
    CHECK_OK(ship_packed_insert(fleet, &beagle, &id));
    CHECK(ship_packed_resolve(fleet.view, id)->crew == 74);
    ship_packed_close(fleet);
}

const struct test typed_tests[] = {
    {"typed", "local and packed tables of one type", IN_SINGLE, test_typed},
    {NULL, NULL, 0, NULL},
};

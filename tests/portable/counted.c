/* The counted table, with its memory in the heap and in given memory. */
#include "portable.h"
#include <stdlib.h>
#include <string.h>

#define CAPACITY 3

static int ended;

static void end(void *object, haft_id id, void *arg)
{
    CHECK(object != NULL && arg == &ended && !haft_id_is_nil(id));
    ended++;
}

static void *open_counted(enum circumstance circumstance, haft_counted_options options,
                          haft_counted **table)
{
    haft_footprint footprint = {.bytes = 0};

    options.capacity = CAPACITY;
    options.object_size = sizeof(uint64_t);
    CHECK(haft_counted_footprint_sized(&options, sizeof options, &footprint) == HAFT_OK);
    CHECK_OK(haft_counted_footprint(&options, &footprint));
    if (circumstance_has_memory(circumstance)) {
        options.memory = malloc((size_t)footprint.bytes);
        options.memory_size = footprint.bytes;
    }
    CHECK_OK(haft_counted_open(&options, table));
    return options.memory;
}

static void test_counted_life(enum circumstance circumstance)
{
    haft_counted *table;
    void *memory = open_counted(
        circumstance,
        (haft_counted_options){.name = "held", .on_destroy = end, .destroy_arg = &ended}, &table);
    const haft_info info = haft_counted_info(table);
    const uint64_t value = 7;
    haft_id ids[CAPACITY];
    haft_id id;
    void *object;
    char text[200];

    ended = 0;
    CHECK(strcmp(info.name, "held") == 0 && info.object_size == sizeof value);
    CHECK_OK(haft_counted_insert(table, &value, &ids[0]));
    CHECK_OK(haft_counted_reserve(table, &ids[1], &object));
    CHECK(haft_counted_diagnose(table, ids[1]) == HAFT_RESERVED);
    memcpy(object, &value, sizeof value);
    haft_counted_publish(table, ids[1]);
    CHECK_OK(haft_counted_reserve(table, &ids[2], NULL));
    CHECK(haft_counted_insert(table, &value, &id) == HAFT_FULL);
    CHECK(haft_counted_explain(table, HAFT_FULL, text, sizeof text) > 0);
    haft_counted_abort(table, ids[2]);

    object = haft_counted_acquire(table, ids[0]);
    CHECK(object != NULL && memcmp(object, &value, sizeof value) == 0);
    CHECK(haft_counted_require(table, ids[0]) == object);
    CHECK(haft_counted_again(table, ids[0]));
    CHECK_OK(haft_counted_free(table, ids[0]));
    CHECK(haft_counted_free(table, ids[0]) == HAFT_STALE && !haft_counted_is_live(table, ids[0]));
    CHECK(haft_counted_stats_get(table).ended == 1);
    for (int i = 0; i < 3; i++) {
        CHECK(ended == 0);
        CHECK_OK(haft_counted_release(table, ids[0]));
    }
    CHECK(ended == 1 && haft_counted_release(table, ids[0]) == HAFT_NOT_HELD);
    CHECK(haft_counted_diagnose_format(table, ids[0], text, sizeof text) > 0);
    CHECK_OK(haft_counted_id_at(table, haft_id_index(info.layout, ids[1]), &id));
    CHECK(haft_id_equal(id, ids[1]));
    CHECK_OK(haft_counted_close(table));
    CHECK(ended == 2);
    free(memory);
}

static void test_counted_copies(enum circumstance circumstance)
{
    haft_counted *table;
    void *memory = open_counted(
        circumstance, (haft_counted_options){.copies = true, .wipe = true, .min_free = 2}, &table);
    const uint64_t value = 7;
    uint64_t copied = 0;
    haft_counted_cursor cursor = {0};
    haft_id id;
    haft_id found;
    void *object;

    CHECK_OK(haft_counted_insert(table, &value, &id));
    CHECK(haft_counted_copy(table, id, &copied) && copied == value);
    CHECK(haft_counted_cursor_next(table, &cursor, &found, &object));
    CHECK(haft_id_equal(found, id));
    CHECK(haft_counted_take(table, id, &copied) == HAFT_IN_USE);
    CHECK(haft_counted_close(table) == HAFT_IN_USE);
    CHECK(haft_counted_insert(table, &value, &found) == HAFT_CLOSED);
    CHECK_OK(haft_counted_release(table, id));
    CHECK_OK(haft_counted_close_wait(table));
    free(memory);
}

static void test_counted_taking(enum circumstance circumstance)
{
    haft_counted *table;
    void *memory = open_counted(circumstance, (haft_counted_options){.spread = true}, &table);
    uint64_t value = 7;
    haft_id id;

    CHECK_OK(haft_counted_insert(table, &value, &id));
    value = 0;
    CHECK_OK(haft_counted_take(table, id, &value));
    CHECK(value == 7 && !haft_counted_is_live(table, id));
    haft_counted_abandon(table);
    CHECK(haft_counted_open_sized(NULL, 0, &table) == HAFT_BAD_CAPACITY);
    free(memory);
}

const struct test counted_tests[] = {
    {"counted", "life", IN_LOCAL, test_counted_life},
    {"counted", "copies and closing", IN_LOCAL, test_counted_copies},
    {"counted", "taking and abandoning", IN_LOCAL, test_counted_taking},
    {NULL, NULL, 0, NULL},
};

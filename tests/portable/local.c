/* The table of one thread, with its memory in the heap and in given memory. */
#include "portable.h"
#include <stdlib.h>
#include <string.h>

#define CAPACITY 100

struct opened {
    haft_local *local;
    void *memory;
};

static struct opened open_local(enum circumstance circumstance, haft_local_options options)
{
    struct opened opened = {NULL, NULL};
    haft_footprint footprint = {.bytes = 0};

    options.capacity = CAPACITY;
    options.object_size = sizeof(uint64_t);
    if (circumstance_has_memory(circumstance)) {
        CHECK_OK(haft_local_footprint(&options, &footprint));
        CHECK(footprint.capacity >= CAPACITY);
        opened.memory = malloc((size_t)footprint.bytes);
        options.memory = opened.memory;
        options.memory_size = footprint.bytes;
    }
    CHECK_OK(haft_local_open(&options, &opened.local));
    return opened;
}

static void close_local(struct opened opened)
{
    haft_local_close(opened.local);
    free(opened.memory);
}

static void test_life(enum circumstance circumstance)
{
    const struct opened opened = open_local(circumstance, (haft_local_options){.name = "things"});
    haft_local *local = opened.local;
    const haft_view view = haft_local_view(local);
    const haft_info info = haft_local_info(local);
    const uint64_t seven = 7;
    haft_id id = HAFT_NIL, other = HAFT_NIL;
    void *object = NULL;

    CHECK(haft_local_count(local) == 0 && haft_local_available(local) == CAPACITY);
    CHECK(strcmp(info.name, "things") == 0 && info.capacity == CAPACITY && !info.pins);
    CHECK(info.object_size == sizeof seven && info.layout.index_bits == 32);
    CHECK_OK(haft_local_insert(local, &seven, &id));
    CHECK(haft_is_live(view, id) && *(uint64_t *)haft_resolve(view, id) == 7);
    CHECK(haft_local_require(local, view, id) == haft_resolve(view, id));
    CHECK_OK(haft_local_reserve(local, &other, &object));
    CHECK(!haft_is_live(view, other) && haft_local_diagnose(local, other) == HAFT_RESERVED);
    *(uint64_t *)object = 8;
    haft_local_publish(local, other);
    CHECK(haft_resolve(view, other) == object && haft_local_count(local) == 2);
    CHECK_OK(haft_local_free(local, id));
    CHECK(haft_resolve(view, id) == NULL && haft_local_diagnose(local, id) == HAFT_STALE);
    CHECK(haft_local_free(local, id) == HAFT_STALE);
    CHECK(haft_local_diagnose(local, HAFT_NIL) == HAFT_NO_ID);
    CHECK_OK(haft_local_reserve(local, &id, NULL));
    haft_local_abort(local, id);
    CHECK(haft_local_diagnose(local, id) == HAFT_STALE);
    haft_local_clear(local);
    CHECK(haft_local_count(local) == 0 && haft_resolve(view, other) == NULL);
    close_local(opened);
}

static void test_full(enum circumstance circumstance)
{
    const struct opened opened = open_local(circumstance, (haft_local_options){0});
    char text[200];
    haft_id id;

    CHECK_OK(haft_local_reserve_capacity(opened.local, CAPACITY));
    CHECK(haft_local_reserve_capacity(opened.local, CAPACITY + 1) == HAFT_FULL);
    for (int i = 0; i < CAPACITY; i++) {
        CHECK_OK(haft_local_insert(opened.local, NULL, &id));
    }
    CHECK(haft_local_insert(opened.local, NULL, &id) == HAFT_FULL);
    CHECK(haft_local_explain(opened.local, HAFT_FULL, text, sizeof text) > 0);
    CHECK(strstr(text, "full") != NULL);
    CHECK(haft_local_diagnose_format(opened.local, id, text, sizeof text) > 0);
    CHECK(strstr(text, "HAFT_OK") != NULL);
    CHECK_OK(haft_local_trim(opened.local, NULL));
    close_local(opened);
}

/* Counts in *arg; the first stops at 3. */
static bool visit(haft_id id, void *object, void *arg)
{
    (void)id;
    return object != NULL && ++*(uint64_t *)arg < 3;
}

static bool visit_all(haft_id id, void *object, void *arg)
{
    (void)object;
    *(uint64_t *)arg += id.bits != 0;
    return true;
}

static void test_walk(enum circumstance circumstance)
{
    const struct opened opened = open_local(circumstance, (haft_local_options){0});
    haft_run run;
    haft_id ids[5], id = HAFT_NIL;
    void *object;
    uint64_t visited = 0, in_run = 0, slots = 0;

    for (int i = 0; i < 5; i++) {
        CHECK_OK(haft_local_insert(opened.local, NULL, &ids[i]));
    }
    CHECK_OK(haft_local_free(opened.local, ids[0]));
    CHECK(haft_local_for_each(opened.local, visit, &visited) == 3 && visited == 3);
    run = haft_run_over(haft_local_view(opened.local), haft_local_used_range(opened.local));
    while (haft_run_next(&run, &id, &object)) {
        in_run++;
    }
    CHECK(in_run == 4);
    run = haft_run_over(haft_local_view(opened.local), haft_local_used_range(opened.local));
    CHECK(haft_local_run_last(&run, &id, &object) && haft_id_equal(id, ids[4]));
    while (haft_local_run_last(&run, &id, &object)) {
        in_run--;
    }
    CHECK(in_run == 1 && haft_id_equal(id, ids[1]));
    CHECK(haft_local_for_each_slot(opened.local, visit_all, &slots) == 5 && slots == 5);
    close_local(opened);
}

static void test_restore(enum circumstance circumstance)
{
    const struct opened opened = open_local(circumstance, (haft_local_options){0});
    const haft_layout layout = haft_local_info(opened.local).layout;
    const haft_id id = haft_id_pack(layout, 20, 5, 0);
    const haft_id next = haft_id_pack(layout, 21, 9, 0);
    const uint64_t one = 1;
    void *object = NULL;
    haft_id any;

    haft_local_load_begin(opened.local);
    CHECK_OK(haft_local_restore(opened.local, id, &one));
    CHECK_OK(haft_local_reserve_at(opened.local, haft_id_pack(layout, 22, 2, 0), &object));
    *(uint64_t *)object = 2;
    haft_local_publish(opened.local, haft_id_pack(layout, 22, 2, 0));
    CHECK_OK(haft_local_restore_free(opened.local, next));
    CHECK(haft_local_insert(opened.local, NULL, &any) == HAFT_LOADING);
    haft_local_load_end(opened.local);
    CHECK(haft_local_restore(opened.local, id, &one) == HAFT_OCCUPIED);
    CHECK(*(uint64_t *)haft_resolve(haft_local_view(opened.local), id) == 1);
    CHECK(haft_local_restore(opened.local, haft_id_pack(layout, 21, 8, 0), &one) == HAFT_STALE);
    CHECK(haft_local_restore(opened.local, (haft_id){3}, &one) == HAFT_MALFORMED);
    CHECK(haft_local_restore(opened.local, haft_id_pack(layout, 4000000, 1, 0), &one) ==
          HAFT_OUT_OF_RANGE);
    close_local(opened);
}

static void count_end(void *object, haft_id id, void *arg)
{
    (void)object;
    (void)id;
    ++*(uint64_t *)arg;
}

static void test_ends(enum circumstance circumstance)
{
    uint64_t ends = 0, later = 0;
    const struct opened opened =
        open_local(circumstance, (haft_local_options){.on_destroy = count_end,
                                                      .destroy_arg = &ends,
                                                      .layout = HAFT_LAYOUT_OF(32, 1, 0),
                                                      .wrap = false});
    haft_id id, kept;

    CHECK_OK(haft_local_insert(opened.local, NULL, &id));
    CHECK_OK(haft_local_free(opened.local, id));
    CHECK(ends == 1 && haft_local_diagnose(opened.local, id) == HAFT_EXHAUSTED);
    haft_local_set_destroy(opened.local, count_end, &later);
    CHECK_OK(haft_local_insert(opened.local, NULL, &kept));
    close_local(opened);
    CHECK(ends == 1 && later == 1);
}

static void test_options(enum circumstance circumstance)
{
    haft_local_options options = {.capacity = 0, .object_size = 8};
    haft_local *local = NULL;
    uint64_t sized[64] = {0};

    (void)circumstance;
    CHECK(haft_local_open(&options, &local) == HAFT_BAD_CAPACITY);
    CHECK(haft_local_open(NULL, &local) == HAFT_BAD_CAPACITY);
    options = (haft_local_options){.capacity = 8, .object_size = SIZE_MAX};
    CHECK(haft_local_open(&options, &local) == HAFT_BAD_OBJECT_SIZE);
    options = (haft_local_options){.capacity = 8, .object_size = 8, .object_alignment = 3};
    CHECK(haft_local_open(&options, &local) == HAFT_BAD_OBJECT_ALIGNMENT);
    options = (haft_local_options){.capacity = 8, .object_size = 8, .tag = 1};
    CHECK(haft_local_open(&options, &local) == HAFT_BAD_TAG);
    options = (haft_local_options){.capacity = 8, .object_size = 8, .min_free = 4};
    CHECK(haft_local_open(&options, &local) == HAFT_BAD_MIN_FREE);
    options = (haft_local_options){.capacity = 8, .object_size = 8};
    memcpy(sized, &options, sizeof options);
    sized[63] = 1;
    CHECK(haft_local_open_sized((const void *)sized, sizeof sized, &local) == HAFT_UNKNOWN_OPTION);
    CHECK(local == NULL);
    sized[63] = 0;
    CHECK_OK(haft_local_open_sized((const void *)sized, sizeof sized, &local));
    haft_local_close(local);
    haft_footprint footprint;
    CHECK_OK(haft_local_footprint_sized((const void *)sized, sizeof sized, &footprint));
}

struct told {
    haft_bad_access bad;
    uint64_t leaked;
};

static void note_bad(const haft_bad_access *access, void *arg)
{
    ((struct told *)arg)->bad = *access;
}

static void note_leak(const haft_leak *leak, void *arg)
{
    char text[200];

    CHECK(haft_leak_format(leak, text, sizeof text) > 0 && strstr(text, "things") != NULL);
    CHECK(haft_site_format(leak->site, text, sizeof text) > 0);
    ((struct told *)arg)->leaked += leak->count;
}

static void test_told(enum circumstance circumstance)
{
    struct told told = {{NULL, {0, 0, 0, 0}, HAFT_NIL, HAFT_OK}, 0};
    const struct opened opened =
        open_local(circumstance, (haft_local_options){.name = "things",
                                                      .sites = true,
                                                      .on_leak = note_leak,
                                                      .on_bad_access = note_bad,
                                                      .report_arg = &told});
    const haft_view view = haft_local_view(opened.local);
    char text[200];
    haft_id id, gone;

    CHECK_OK(haft_local_insert(opened.local, NULL, &id));
    CHECK_OK(haft_local_insert(opened.local, NULL, &gone));
    CHECK_OK(haft_local_free(opened.local, gone));
    CHECK(haft_local_require(opened.local, view, gone) == NULL);
    CHECK(told.bad.status == HAFT_STALE && haft_id_equal(told.bad.id, gone));
    told.bad.table = "things"; /* the callback's has ended */
    CHECK(haft_bad_access_format(&told.bad, text, sizeof text) > 0 &&
          strstr(text, "STALE") != NULL);
    close_local(opened);
    CHECK(told.leaked == 1);
}

static void test_refs(enum circumstance circumstance)
{
    const struct opened opened = open_local(circumstance, (haft_local_options){0});
    const haft_view view = haft_local_view(opened.local);
    haft_id ids[3];
    void *objects[3];

    for (int i = 0; i < 3; i++) {
        CHECK_OK(haft_local_insert(opened.local, NULL, &ids[i]));
    }
    const haft_ref ref = haft_ref_of(view, ids[1]);

    CHECK(haft_ref_is_live(ref) && haft_ref_get(ref) == haft_resolve(view, ids[1]));
    CHECK(haft_id_equal(haft_ref_id(ref), ids[1]));
    CHECK_OK(haft_local_free(opened.local, ids[1]));
    CHECK(!haft_ref_is_live(ref) && haft_ref_get(ref) == NULL);
    CHECK(haft_id_is_nil(haft_ref_id(haft_ref_of(view, ids[1]))));
    CHECK(haft_resolve_many(view, ids, objects, 3) == 2);
    CHECK(objects[1] == NULL && objects[2] == haft_resolve(view, ids[2]));
    CHECK((const char *)haft_slot_of(view, ids[2]) + sizeof(uint64_t) == objects[2]);
    CHECK(haft_resolve((haft_view)HAFT_VIEW_EMPTY, ids[2]) == NULL);
    close_local(opened);
}

const struct test local_tests[] = {
    {"local", "reserve, insert, resolve, free", IN_LOCAL, test_life},
    {"local", "full", IN_LOCAL, test_full},
    {"local", "walks", IN_LOCAL, test_walk},
    {"local", "restore", IN_LOCAL, test_restore},
    {"local", "on_destroy, exhausted slots", IN_LOCAL, test_ends},
    {"local", "options refused", IN_SINGLE, test_options},
    {"local", "callbacks of warnings", IN_LOCAL, test_told},
    {"view", "refs, many ids", IN_LOCAL, test_refs},
    {NULL, NULL, 0, NULL},
};

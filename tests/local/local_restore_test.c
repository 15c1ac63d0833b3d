/* Ids chosen elsewhere, restored one by one and in load mode. */
#include "tests/support.h"
#include <haft/kit/restore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(restore, .timeout = SUITE_SECONDS);
TestSuite(reserve_at, .timeout = SUITE_SECONDS);

#define RESTORE_LAYOUTS 6
static const haft_layout some[RESTORE_LAYOUTS] = {{32, 32, 0, 0}, {16, 16, 0, 0}, {20, 12, 0, 0},
                                                  {32, 24, 8, 0}, {5, 3, 0, 0},   {5, 3, 2, 0}};

#define CAPACITY 20

static haft_local *local;
static haft_layout layout;

static haft_local_options options_of(haft_layout of, haft_local_reuse reuse)
{
    const haft_local_options options = {
        .capacity = CAPACITY,
        .object_size = 8,
        .layout = of,
        .tag = haft_field_max(of.tag_bits),
        .reuse = reuse,
    };
    return options;
}

static void open_with(haft_layout of, haft_local_reuse reuse)
{
    const haft_local_options options = options_of(of, reuse);

    layout = of;
    assert_status(haft_local_open(&options, &local), HAFT_OK);
}

static haft_id id_of(uint64_t index, uint64_t generation)
{
    return haft_id_pack(layout, index, generation, haft_field_max(layout.tag_bits));
}

static bool is_live(haft_id id)
{
    return haft_is_live(haft_local_view(local), id);
}

static haft_id insert_any(void)
{
    haft_id id = HAFT_NIL;

    must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    return id;
}

/* The body runs for each layout, order of reuse, and with and without load mode. */
struct way {
    int layout;
    int reuse;
    int loads;
};

#define TEST_EACH_WAY(suite, name)                                                                 \
    static void suite##_##name(const struct way *way);                                             \
    Test(suite, name)                                                                              \
    {                                                                                              \
        for (int i = 0; i < RESTORE_LAYOUTS * 4; i++) {                                            \
            const struct way way = {i / 4, i / 2 % 2, i % 2};                                      \
                                                                                                   \
            fprintf(stderr, "layout %d, reuse %d, loads %d\n", way.layout, way.reuse, way.loads);  \
            suite##_##name(&way);                                                                  \
        }                                                                                          \
    }                                                                                              \
    static void suite##_##name(const struct way *way)

static void begin(const struct way *way)
{
    if (way->loads) {
        haft_local_load_begin(local);
    }
}

static void end(const struct way *way)
{
    if (way->loads) {
        haft_local_load_end(local);
    }
}

static void open_way(const struct way *way)
{
    open_with(some[way->layout], (haft_local_reuse)way->reuse);
}

TEST_EACH_WAY(restore, a_chosen_id_lives_and_its_slot_goes_on_from_it)
{
    open_way(way);
    const haft_id id = id_of(9, 5);
    const uint64_t value = 77;

    begin(way);
    expect_status(haft_local_restore(local, id, &value), HAFT_OK);
    cr_expect(eq(u64, haft_local_count(local), 1));
    end(way);
    uint64_t *object = haft_resolve(haft_local_view(local), id);

    cr_assert(ne(ptr, object, NULL));
    cr_expect(eq(u64, *object, 77));
    cr_expect(eq(u64, haft_local_available(local), CAPACITY - 1));
    expect_status(haft_local_free(local, id), HAFT_OK);
    expect_status(haft_local_free(local, id), HAFT_STALE);
    for (int i = 0; i < CAPACITY; i++) { /* every slot once, this one with its next generation */
        const haft_id next = insert_any();

        cr_expect(
            eq(u64, haft_id_generation(layout, next), haft_id_index(layout, next) == 9 ? 6 : 1));
    }
    cr_expect(is_live(id_of(9, 6)));
    expect_status(haft_local_diagnose(local, id_of(9, 4)), HAFT_STALE);
    cr_expect(eq(u64, haft_local_available(local), 0));
    haft_local_close(local);
}

TEST_EACH_WAY(restore, a_free_slot_amid_the_list_is_taken_out_of_it)
{
    open_way(way);
    haft_id ids[CAPACITY];
    bool met[CAPACITY + 4] = {false};

    for (int i = 0; i < CAPACITY; i++) {
        ids[i] = insert_any();
    }
    for (int i = 0; i < CAPACITY; i++) {
        must(haft_local_free(local, ids[i * 7 % CAPACITY]) == HAFT_OK);
    }
    static const uint64_t chosen[] = {4, 23, 11, 17, 12}; /* ends and middles, in some order */

    begin(way);
    for (int i = 0; i < 5; i++) {
        expect_status(haft_local_restore(local, id_of(chosen[i], 2), NULL), HAFT_OK);
        met[chosen[i]] = true;
    }
    end(way);
    for (int i = 5; i < CAPACITY; i++) {
        const haft_id id = insert_any();

        cr_expect(not(met[haft_id_index(layout, id)]));
        met[haft_id_index(layout, id)] = true;
        cr_expect(eq(u64, haft_id_generation(layout, id), 2));
    }
    expect_status(haft_local_insert(local, NULL, &ids[0]), HAFT_FULL);
    haft_local_close(local);
}

/* Each refusal leaves the table as it was. */
static void expect_refused(haft_id id, haft_status expected, haft_status free_expected)
{
    const uint64_t count = haft_local_count(local);
    const uint64_t available = haft_local_available(local);
    const haft_status before = haft_local_diagnose(local, id);

    cr_expect(eq(int, haft_local_restore(local, id, NULL), expected), "%lx", (long)id.bits);
    cr_expect(eq(int, haft_local_reserve_at(local, id, NULL), expected), "%lx", (long)id.bits);
    cr_expect(eq(int, haft_local_restore_free(local, id), free_expected), "%lx", (long)id.bits);
    cr_expect(eq(int, haft_local_diagnose(local, id), before));
    cr_expect(eq(u64, haft_local_count(local), count));
    cr_expect(eq(u64, haft_local_available(local), available));
}

TEST_EACH_WAY(restore, bad_ids_are_refused_and_change_nothing)
{
    open_way(way);
    const unsigned width = (unsigned)layout.index_bits + layout.generation_bits + layout.tag_bits;
    const uint64_t last = haft_field_max(layout.generation_bits);
    const haft_id live = insert_any();
    const haft_id freed = insert_any();
    haft_id reserved;

    must(haft_local_free(local, freed) == HAFT_OK);
    must(haft_local_reserve(local, &reserved, NULL) == HAFT_OK);
    must(haft_local_restore(local, id_of(10, last), NULL) == HAFT_OK);
    must(haft_local_free(local, id_of(10, last)) == HAFT_OK);
    must(haft_local_restore(local, id_of(12, 4), NULL) == HAFT_OK);
    must(haft_local_free(local, id_of(12, 4)) == HAFT_OK);
    begin(way);
    expect_refused(HAFT_NIL, HAFT_NO_ID, HAFT_NO_ID);
    for (uint64_t mark = 1; mark < HAFT_FIRST_INDEX; mark++) {
        expect_refused(id_of(mark, 3), HAFT_MALFORMED, HAFT_MALFORMED);
    }
    if (width < 64) {
        expect_refused((haft_id){id_of(15, 1).bits | UINT64_C(1) << width}, HAFT_MALFORMED,
                       HAFT_MALFORMED);
    }
    if (layout.tag_bits != 0) {
        expect_refused(haft_id_pack(layout, 15, 1, 0), HAFT_FOREIGN, HAFT_FOREIGN);
        expect_refused(haft_id_pack(layout, 15, 0, 0), HAFT_FOREIGN, HAFT_FOREIGN);
    }
    cr_expect(eq(int, haft_local_restore(local, id_of(15, 0), NULL), HAFT_MALFORMED));
    expect_refused(id_of(CAPACITY + 4, 1), HAFT_OUT_OF_RANGE, HAFT_OUT_OF_RANGE);
    expect_refused(id_of(haft_field_max(layout.index_bits), 1), HAFT_OUT_OF_RANGE,
                   HAFT_OUT_OF_RANGE);
    expect_refused(live, HAFT_OCCUPIED, HAFT_OCCUPIED);
    expect_refused(id_of(haft_id_index(layout, live), last), HAFT_OCCUPIED, HAFT_OCCUPIED);
    expect_refused(reserved, HAFT_OCCUPIED, HAFT_OCCUPIED);
    expect_refused(id_of(10, last), HAFT_EXHAUSTED, HAFT_EXHAUSTED);
    expect_refused(id_of(12, 4), HAFT_STALE, HAFT_STALE);
    expect_refused(id_of(12, 1), HAFT_STALE, HAFT_STALE);
    end(way);
    cr_expect(eq(u64, haft_local_count(local), 1));
    cr_expect(is_live(live));
    haft_local_close(local);
}

TEST_EACH_WAY(restore, below_the_first_generation_is_stale)
{
    haft_local_options options = options_of(some[way->layout], (haft_local_reuse)way->reuse);

    options.first_generation = 3;
    layout = options.layout;
    assert_status(haft_local_open(&options, &local), HAFT_OK);
    begin(way);
    expect_refused(id_of(9, 2), HAFT_STALE, HAFT_STALE);
    expect_status(haft_local_restore(local, id_of(9, 3), NULL), HAFT_OK);
    end(way);
    haft_local_close(local);
}

TEST_EACH_WAY(restore, into_a_full_table_is_refused)
{
    haft_local_options options = options_of(some[way->layout], HAFT_REUSE_FIFO);

    options.min_free = 4;
    layout = options.layout;
    assert_status(haft_local_open(&options, &local), HAFT_OK);
    for (int i = 0; i < CAPACITY; i++) {
        insert_any();
    }
    begin(way);
    expect_status(haft_local_restore(local, id_of(26, 1), NULL), HAFT_FULL);
    expect_status(haft_local_restore_free(local, id_of(26, 0)), HAFT_FULL);
    expect_status(haft_local_restore_free(local, id_of(26, 3)), HAFT_OK);
    end(way);
    cr_expect(eq(u64, haft_local_count(local), CAPACITY));
    haft_local_close(local);
}

TEST_EACH_WAY(restore, bits_highest_index_generation_and_tag_live_and_are_exhausted_after)
{
    haft_local_options options = options_of(some[way->layout], (haft_local_reuse)way->reuse);

    layout = options.layout;
    options.capacity = layout.index_bits < 32
                           ? haft_field_max(layout.index_bits) + 1 - HAFT_FIRST_INDEX
                           : 1 << 20; /* all memory below may be touched */
    const haft_id id = id_of(options.capacity + 3, haft_field_max(layout.generation_bits));

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    begin(way);
    expect_status(haft_local_restore(local, id, NULL), HAFT_OK);
    end(way);
    cr_expect(is_live(id));
    cr_expect(not(is_live(HAFT_NIL)));
    expect_status(haft_local_free(local, id), HAFT_OK);
    expect_status(haft_local_diagnose(local, id), HAFT_EXHAUSTED);
    cr_expect(eq(u64, haft_local_available(local), options.capacity - 1));
    cr_expect(eq(u32, haft_id_index(layout, insert_any()), HAFT_FIRST_INDEX));
    haft_local_close(local);
}

TEST_EACH_WAY(restore, a_free_slots_next_id_is_what_it_is_told)
{
    open_way(way);
    haft_id ids[CAPACITY];

    begin(way);
    expect_status(haft_local_restore_free(local, id_of(6, 4)), HAFT_OK);
    expect_status(haft_local_restore_free(local, id_of(6, 7)), HAFT_OK);
    expect_status(haft_local_restore_free(local, id_of(6, 6)), HAFT_STALE);
    expect_status(haft_local_restore_free(local, id_of(8, 0)), HAFT_OK);
    expect_status(haft_local_restore(local, id_of(8, 7), NULL), HAFT_EXHAUSTED);
    end(way);
    cr_expect(eq(u64, haft_local_count(local), 0));
    cr_expect(eq(u64, haft_local_available(local), CAPACITY - 1));
    for (uint64_t generation = 1; generation < 7; generation++) {
        expect_status(haft_local_diagnose(local, id_of(6, generation)), HAFT_STALE);
        expect_status(haft_local_diagnose(local, id_of(8, generation)), HAFT_EXHAUSTED);
    }
    for (int i = 0; i < CAPACITY - 1; i++) {
        ids[i] = insert_any();
    }
    expect_status(haft_local_insert(local, NULL, &ids[0]), HAFT_FULL);
    cr_expect(is_live(id_of(6, 7)));
    cr_expect(not(is_live(id_of(8, 1))));
    haft_local_close(local);
}

/* --- reserved under a chosen id --- */

TEST_EACH_WAY(reserve_at, a_chosen_id_lives_from_its_publishing_on)
{
    open_way(way);
    const haft_id id = id_of(9, 5);
    void *object = NULL;

    begin(way);
    expect_status(haft_local_reserve_at(local, id, &object), HAFT_OK);
    memset(object, 7, 8);
    cr_expect(not(is_live(id)));
    expect_status(haft_local_diagnose(local, id), HAFT_RESERVED);
    cr_expect(eq(u64, haft_local_count(local), 0));
    cr_expect(eq(u64, haft_local_available(local), CAPACITY - 1));
    expect_refused(id, HAFT_OCCUPIED, HAFT_OCCUPIED);
    haft_local_publish(local, id);
    cr_expect(eq(ptr, haft_resolve(haft_local_view(local), id), object));
    cr_expect(eq(u64, haft_local_count(local), 1));
    end(way);
    expect_status(haft_local_free(local, id), HAFT_OK);
    cr_expect(eq(u64, haft_local_available(local), CAPACITY));
    haft_local_close(local);
}

TEST_EACH_WAY(reserve_at, one_given_up_is_stale_and_its_slot_goes_on_from_it)
{
    open_way(way);
    const haft_id id = id_of(9, 5);

    begin(way);
    expect_status(haft_local_reserve_at(local, id, NULL), HAFT_OK);
    haft_local_abort(local, id);
    expect_refused(id, HAFT_STALE, HAFT_STALE);
    end(way);
    for (int i = 0; i < CAPACITY; i++) {
        const haft_id next = insert_any();

        cr_expect(
            eq(u64, haft_id_generation(layout, next), haft_id_index(layout, next) == 9 ? 6 : 1));
    }
    cr_expect(is_live(id_of(9, 6)));
    haft_local_close(local);
}

TEST_EACH_WAY(reserve_at, outlasts_a_load)
{
    open_way(way);
    const haft_id id = id_of(9, 5);

    begin(way);
    expect_status(haft_local_reserve_at(local, id, NULL), HAFT_OK);
    end(way);
    for (int i = 1; i < CAPACITY; i++) {
        cr_expect(ne(u64, haft_id_index(layout, insert_any()), 9));
    }
    haft_local_publish(local, id);
    cr_expect(is_live(id));
    cr_expect(eq(u64, haft_local_available(local), 0));
    haft_local_close(local);
}

/* --- how long ids last --- */

static void open_queue(uint64_t min_free, size_t object_size)
{
    const haft_local_options options = {
        .capacity = 1000,
        .object_size = object_size,
        .reuse = HAFT_REUSE_FIFO,
        .min_free = min_free,
    };

    layout = HAFT_LAYOUT_32_32;
    assert_status(haft_local_open(&options, &local), HAFT_OK);
}

/* Whether slot `index` is among the next 500 that are used, none of which is freed. */
static bool is_reused(uint64_t index)
{
    bool met = false;

    for (int i = 0; i < 500; i++) {
        met |= haft_id_index(layout, insert_any()) == index;
    }
    return met;
}

Test(restore, slots_below_a_restored_one_do_not_count_as_freed)
{
    open_queue(3, 8);
    must(haft_local_free(local, insert_any()) == HAFT_OK);
    must(haft_local_restore(local, id_of(200, 1), NULL) == HAFT_OK);
    cr_expect(not(is_reused(4)));
    haft_local_close(local);
}

Test(restore, an_id_that_was_stale_before_a_trim_is_stale_with_wrap)
{
    const haft_local_options options = {.capacity = 100000, .object_size = 24, .wrap = true};
    static haft_id ids[50000];
    uint64_t released;

    layout = HAFT_LAYOUT_32_32;
    assert_status(haft_local_open(&options, &local), HAFT_OK);
    for (int i = 0; i < 50000; i++) {
        ids[i] = insert_any();
    }
    local_free_each(local, ids, 50000);
    must(haft_local_trim(local, &released) == HAFT_OK && released != 0);
    expect_status(haft_local_restore(local, ids[30000], NULL), HAFT_STALE);
    expect_status(haft_local_restore(local, id_of(90000, 1), NULL), HAFT_OK);
    haft_local_close(local);
}

Test(restore, slots_beside_a_restored_one_in_trimmed_memory_do_not_count_as_freed)
{
    haft_id ids[400];
    uint64_t released = 0;

    open_queue(3, 1016); /* four slots a page */
    for (int i = 0; i < 400; i++) {
        ids[i] = insert_any();
    }
    local_free_each(local, ids, 399);
    must(haft_local_trim(local, &released) == HAFT_OK && released != 0);
    must(haft_local_free(local, ids[399]) == HAFT_OK);
    const haft_id next = {ids[101].bits + (UINT64_C(1) << 32)};

    must(haft_local_restore(local, next, NULL) == HAFT_OK);
    cr_expect(not(is_reused(haft_id_index(layout, ids[399]))));
    haft_local_close(local);
}

Test(restore, memory_that_was_released_and_restored_into_is_released_again)
{
    haft_id ids[400];
    uint64_t released = 0;

    open_queue(0, 1016); /* four slots a page */
    for (int i = 0; i < 400; i++) {
        ids[i] = insert_any();
    }
    local_free_each(local, ids, 400);
    must(haft_local_trim(local, &released) == HAFT_OK && released != 0);
    const haft_id next = {ids[101].bits + (UINT64_C(1) << 32)};

    must(haft_local_restore(local, next, NULL) == HAFT_OK);
    must(haft_local_free(local, next) == HAFT_OK);
    expect_status(haft_local_trim(local, &released), HAFT_OK);
    cr_expect(ne(u64, released, 0));
    haft_local_close(local);
}

/* The packed table: objects come, are found, and go. */
#include "tests/packed/packed.h"
#include <string.h>

TestSuite(packed, .timeout = SUITE_SECONDS);

#define OBJECTS 100

static void expect_position(const haft_packed *packed, haft_id id, uint64_t expected)
{
    uint64_t position = UINT64_MAX;

    expect_status(haft_packed_position(packed, id, &position), HAFT_OK);
    cr_expect(eq(u64, position, expected));
}

/* --- insert and resolve --- */

Test(packed, an_insert_goes_to_the_last_position_with_a_copy)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, false);

    for (uint64_t value = 0; value < OBJECTS; value++) {
        const haft_id id = packed_insert_value(packed, value + 1000);

        expect_position(packed, id, value);
        cr_expect(eq(u64, packed_value_at(packed, value), value + 1000));
        cr_expect(eq(u64, haft_packed_count(packed), value + 1));
        cr_expect(eq(u64, haft_packed_available(packed), OBJECTS - value - 1));
        cr_expect(eq(int, (int)haft_packed_state(packed, id), HAFT_PACKED_ALIVE));
    }
    packed_must_be_sound(packed, 8);
}

Test(packed, an_insert_may_copy_an_object_of_the_table)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, false);
    haft_id id = packed_insert_value(packed, 7);

    assert_status(
        haft_packed_insert(packed, haft_packed_resolve(haft_packed_view(packed), id), &id),
        HAFT_OK);
    cr_expect(packed_has(packed, (uint64_t[]){7, 7}, 2));
}

Test(packed, an_insert_moves_nothing_and_the_view_stays)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(100000, false);
    const haft_dense_view view = haft_packed_view(packed);
    void *const objects = haft_packed_objects(packed);
    const haft_id *const ids = haft_packed_ids(packed);
    const haft_id first = packed_insert_value(packed, 17);
    uint64_t *const object = haft_packed_resolve(view, first);

    for (uint64_t i = 1; i < 100000; i++) {
        packed_insert_value(packed, i);
    }
    const haft_dense_view after = haft_packed_view(packed);

    cr_expect(eq(ptr, haft_packed_resolve(view, first), object));
    cr_expect(eq(u64, *object, 17));
    cr_expect(eq(ptr, haft_packed_objects(packed), objects));
    cr_expect(eq(ptr, (void *)haft_packed_ids(packed), (void *)ids));
    cr_expect(zero(int, memcmp(&view, &after, sizeof view)));
    packed_must_be_sound(packed, 8);
}

/* --- free --- */

Test(packed, free_fills_the_gap_with_the_last_object)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, false);
    const haft_dense_view view = haft_packed_view(packed);
    haft_id ids[5];

    packed_fill(packed, ids, 5);
    const uint64_t *const third = haft_packed_resolve(view, ids[2]);

    expect_status(haft_packed_free(packed, ids[1]), HAFT_OK);
    cr_expect(packed_has(packed, (uint64_t[]){0, 4, 2, 3}, 4));
    cr_expect(eq(ptr, haft_packed_resolve(view, ids[2]), (void *)third));
    expect_position(packed, ids[4], 1);
    packed_must_be_sound(packed, 8);
}

Test(packed, free_with_keep_order_moves_those_behind_up)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, true);
    const haft_dense_view view = haft_packed_view(packed);
    haft_id ids[5];

    packed_fill(packed, ids, 5);
    const uint64_t *const second = haft_packed_resolve(view, ids[1]);

    expect_status(haft_packed_free(packed, ids[2]), HAFT_OK);
    cr_expect(packed_has(packed, (uint64_t[]){0, 1, 3, 4}, 4));
    cr_expect(eq(ptr, haft_packed_resolve(view, ids[1]), (void *)second));
    packed_must_be_sound(packed, 8);
}

TEST_ON_EACH_ORDER(packed, the_first_the_last_and_the_only_object_can_be_freed)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, *keep_order);
    haft_id ids[3];

    packed_fill(packed, ids, 3);
    expect_status(haft_packed_free(packed, ids[2]), HAFT_OK);
    cr_expect(packed_has(packed, (uint64_t[]){0, 1}, 2));
    expect_status(haft_packed_free(packed, ids[0]), HAFT_OK);
    cr_expect(packed_has(packed, (uint64_t[]){1}, 1));
    expect_status(haft_packed_free(packed, ids[1]), HAFT_OK);
    cr_expect(haft_packed_is_empty(packed));
    packed_must_be_sound(packed, 8);
}

/* --- clear --- */

TEST_ON_EACH_ORDER(packed, after_clear_all_ids_are_stale_for_ever_and_the_table_is_as_new)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, *keep_order);
    haft_id old[OBJECTS * 3];

    for (int round = 0; round < 3; round++) {
        packed_fill(packed, &old[OBJECTS * round], OBJECTS);
        must(haft_packed_kill(packed, old[OBJECTS * round + 9]) == HAFT_OK);
        expect_status(haft_packed_clear(packed), HAFT_OK);
        expect_status(haft_packed_clear(packed), HAFT_OK); /* of nothing */
        cr_expect(haft_packed_is_empty(packed));
        cr_expect(zero(u64, haft_packed_dead_count(packed)));
        cr_expect(eq(u64, haft_packed_available(packed), OBJECTS));
        for (int i = 0; i < OBJECTS * (round + 1); i++) {
            must(haft_packed_diagnose(packed, old[i]) == HAFT_STALE);
            must(haft_packed_kill(packed, old[i]) == HAFT_STALE);
        }
        packed_must_be_sound(packed, 8);
    }
}

Test(packed, clear_exhausts_slots_in_their_last_life)
{
    const haft_packed_options options = {
        .capacity = 4, .object_size = 8, .layout = HAFT_LAYOUT_OF(3, 1, 0)};
    AT_END(packed_end) haft_packed *packed = packed_open(&options);
    haft_id ids[4];

    packed_fill(packed, ids, 3);
    must(haft_packed_clear(packed) == HAFT_OK);
    cr_expect(eq(u64, haft_packed_available(packed), 1));
    packed_insert_value(packed, 1);
    expect_status(haft_packed_insert(packed, NULL, &ids[3]), HAFT_FULL);
}

static void end_all(haft_packed *packed, const haft_id *ids, bool by_refresh)
{
    if (!by_refresh) {
        must(haft_packed_clear(packed) == HAFT_OK);
        return;
    }
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_packed_kill(packed, ids[i * 37 % OBJECTS]) == HAFT_OK);
    }
    must(haft_packed_refresh(packed) == HAFT_OK);
}

TEST_ON_EACH_ORDER(packed, refresh_and_clear_bump_every_generation_by_one)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, *keep_order);
    uint64_t lives[HAFT_FIRST_INDEX + OBJECTS] = {0};
    haft_id ids[OBJECTS];

    for (int round = 0; round < 20; round++) {
        packed_fill(packed, ids, OBJECTS);
        for (int i = 0; i < OBJECTS; i++) {
            const uint64_t generation = haft_id_generation(HAFT_LAYOUT_32_32, ids[i]);

            must(generation == ++lives[haft_id_index(HAFT_LAYOUT_32_32, ids[i])]);
        }
        end_all(packed, ids, round % 2 == 0);
        for (int i = 0; i < OBJECTS; i++) {
            must(haft_packed_diagnose(packed, ids[i]) == HAFT_STALE);
        }
    }
}

TEST_ON_EACH_ORDER(packed, count_is_inserted_less_freed_on_every_path)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(3, *keep_order);
    haft_id ids[3];
    haft_id id;

    packed_fill(packed, ids, 3);
    expect_status(haft_packed_insert(packed, NULL, &id), HAFT_FULL);
    cr_expect(eq(u64, haft_packed_count(packed), 3));
    expect_status(haft_packed_kill(packed, ids[0]), HAFT_OK);
    expect_status(haft_packed_kill(packed, ids[0]), HAFT_DEAD);
    cr_expect(eq(u64, haft_packed_dead_count(packed), 1));
    expect_status(haft_packed_insert(packed, NULL, &id), HAFT_FULL);
    cr_expect(eq(u64, haft_packed_count(packed), 3));
    expect_status(haft_packed_free(packed, ids[1]), HAFT_OK);
    expect_status(haft_packed_free(packed, ids[1]), HAFT_STALE);
    expect_status(haft_packed_kill(packed, ids[1]), HAFT_STALE);
    expect_status(haft_packed_free(packed, HAFT_NIL), HAFT_NO_ID);
    cr_expect(eq(u64, haft_packed_count(packed), 2));
    expect_status(haft_packed_refresh(packed), HAFT_OK);
    expect_status(haft_packed_refresh(packed), HAFT_OK);
    cr_expect(eq(u64, haft_packed_count(packed), 1));
    packed_insert_value(packed, 1);
    cr_expect(eq(u64, haft_packed_count(packed), 2));
    expect_status(haft_packed_clear(packed), HAFT_OK);
    cr_expect(zero(u64, haft_packed_count(packed)));
}

/* --- walking --- */

Test(packed, a_loop_may_kill_what_it_meets)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(1000, false);
    haft_id ids[1000];

    packed_fill(packed, ids, 1000);
    for (uint64_t i = 0; i < haft_packed_count(packed); i++) {
        if (packed_value_at(packed, i) % 3 == 0) {
            must(haft_packed_kill(packed, haft_packed_id_in(packed, i)) == HAFT_OK);
        }
    }
    expect_status(haft_packed_refresh(packed), HAFT_OK);
    cr_expect(eq(u64, haft_packed_count(packed), 666));
    for (int i = 0; i < 1000; i++) {
        must(haft_packed_is_live(haft_packed_view(packed), ids[i]) == (i % 3 != 0));
    }
    packed_must_be_sound(packed, 8);
}

/* Each object is met by the loop that kills and inserts: the old ones and the new, once each. */
TEST_ON_EACH_ORDER(packed, a_loop_that_kills_and_inserts_meets_each_object_once)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(3 * OBJECTS, *keep_order);
    int met[2 * OBJECTS] = {0};
    haft_id ids[OBJECTS];
    uint64_t next = OBJECTS;

    packed_fill(packed, ids, OBJECTS);
    for (uint64_t i = 0; i < haft_packed_count(packed); i++) {
        const uint64_t value = packed_value_at(packed, i);

        met[value]++;
        must(value % 3 != 0 || haft_packed_kill(packed, haft_packed_id_in(packed, i)) == HAFT_OK);
        if (next < 2 * OBJECTS) {
            packed_insert_value(packed, next++);
        }
    }
    for (int value = 0; value < 2 * OBJECTS; value++) {
        cr_expect(eq(int, met[value], 1));
    }
    expect_status(haft_packed_refresh(packed), HAFT_OK);
    for (uint64_t i = 0; i < haft_packed_count(packed); i++) {
        met[packed_value_at(packed, i)]++;
    }
    for (int value = 0; value < 2 * OBJECTS; value++) {
        cr_expect(eq(int, met[value], value % 3 == 0 ? 1 : 2));
    }
}

Test(packed, one_object_left_of_a_full_table_is_walked)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, true);
    haft_id ids[OBJECTS];

    packed_fill(packed, ids, OBJECTS);
    for (int i = 0; i < OBJECTS - 1; i++) {
        must(haft_packed_free(packed, ids[i]) == HAFT_OK);
    }
    cr_expect(packed_has(packed, (uint64_t[]){OBJECTS - 1}, 1));
}

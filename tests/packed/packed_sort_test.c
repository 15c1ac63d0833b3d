/* The packed table: the order of objects. */
#include "tests/packed/packed.h"
#include <haft/kit/snapshot.h>
#include <stdlib.h>
#include <string.h>

TestSuite(packed_sort, .timeout = SUITE_SECONDS);
TestSuite(packed_sort_n, .timeout = SUITE_SECONDS);
TestSuite(packed_sort_as, .timeout = SUITE_SECONDS);
TestSuite(packed_swap, .timeout = SUITE_SECONDS);

#define MOST 1000

/* The key is the upper half, the place of insertion the lower: equal keys show stability. */
static int by_key(const void *a, const void *b, void *arg)
{
    const uint64_t x = *(const uint64_t *)a >> 32;
    const uint64_t y = *(const uint64_t *)b >> 32;

    if (arg != NULL) {
        ++*(uint64_t *)arg;
    }
    return (x > y) - (x < y);
}

/* `count` objects with keys below `keys`. */
static void fill_random(haft_packed *packed, haft_id *ids, uint64_t count, uint64_t keys,
                        uint64_t seed)
{
    for (uint64_t i = 0; i < count; i++) {
        ids[i] = packed_insert_value(packed, random_next(&seed) % keys << 32 | i);
    }
}

/* In order of key, and equal keys in order of insertion; each id leads to its own object. */
static void must_be_sorted(const haft_packed *packed, const haft_id *ids, uint64_t count)
{
    const haft_dense_view view = haft_packed_view(packed);

    must(haft_packed_count(packed) == count);
    for (uint64_t i = 1; i < count; i++) {
        must(packed_value_at(packed, i - 1) < packed_value_at(packed, i));
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t *object = haft_packed_resolve(view, ids[i]);

        must(object != NULL && (uint32_t)*object == i);
    }
    packed_must_be_sound(packed, 8);
}

Test(packed_sort, of_every_number_of_objects_is_stable_and_keeps_ids)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(MOST, false);
    static haft_id ids[MOST];

    for (uint64_t count = 0; count <= MOST; count += count < 70 ? 1 : 93) {
        for (uint64_t keys = 1; keys <= 1000000; keys *= 100) {
            fill_random(packed, ids, count, keys, count * 7 + keys);
            must(haft_packed_sort(packed, by_key, NULL) == HAFT_OK);
            must_be_sorted(packed, ids, count);
            must(haft_packed_clear(packed) == HAFT_OK);
        }
    }
}

Test(packed_sort, of_a_full_table_has_room_to_move)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(MOST, true);
    static haft_id ids[MOST];

    fill_random(packed, ids, MOST, 50, 3);
    must(haft_packed_sort(packed, by_key, NULL) == HAFT_OK);
    must_be_sorted(packed, ids, MOST);
}

/* 512 objects fill a page, and the slots are mapped behind it. */
Test(packed_sort, of_a_full_table_of_whole_pages_writes_nothing_beyond_it)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(512, true);
    const haft_dense_view view = haft_packed_view(packed);
    static haft_id ids[512];

    fill_random(packed, ids, 512, 50, 3);
    const uint64_t before = haft_load_relaxed(HAFT_EDGE_NONE, &view.slot[0].word);

    must(haft_packed_sort(packed, by_key, NULL) == HAFT_OK);
    cr_expect(eq(u64, haft_load_relaxed(HAFT_EDGE_NONE, &view.slot[0].word), before));
    must_be_sorted(packed, ids, 512);
}

Test(packed_sort, of_sorted_objects_takes_one_comparison_less_than_there_are_objects)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(MOST, false);
    static haft_id ids[MOST];
    uint64_t comparisons = 0;

    fill_random(packed, ids, MOST, 50, 3);
    must(haft_packed_sort(packed, by_key, NULL) == HAFT_OK);
    must(haft_packed_sort(packed, by_key, &comparisons) == HAFT_OK);
    cr_expect(eq(u64, comparisons, MOST - 1));
}

Test(packed_sort, takes_n_log_n_comparisons_at_most)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(MOST, false);
    static haft_id ids[MOST];
    uint64_t comparisons = 0;

    fill_random(packed, ids, MOST, UINT32_MAX, 5);
    must(haft_packed_sort(packed, by_key, &comparisons) == HAFT_OK);
    cr_expect(lt(u64, comparisons, MOST * 11)); /* log2: 10, and one more to look first */
}

TEST_ON_EACH_ORDER(packed_sort, dead_objects_are_sorted_with_the_others_and_stay_dead)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(MOST, *keep_order);
    static haft_id ids[MOST];

    fill_random(packed, ids, MOST, 50, 9);
    for (int i = 0; i < MOST; i += 3) {
        must(haft_packed_kill(packed, ids[i]) == HAFT_OK);
    }
    must(haft_packed_sort(packed, by_key, NULL) == HAFT_OK);
    must_be_sorted(packed, ids, MOST);
    for (int i = 0; i < MOST; i++) {
        must((haft_packed_state(packed, ids[i]) == HAFT_PACKED_DEAD) == (i % 3 == 0));
    }
    must(haft_packed_refresh(packed) == HAFT_OK);
    for (int i = 0; i < MOST; i++) {
        must(haft_packed_is_live(haft_packed_view(packed), ids[i]) == (i % 3 != 0));
    }
    for (uint64_t i = 1; *keep_order && i < haft_packed_count(packed); i++) {
        must(packed_value_at(packed, i - 1) < packed_value_at(packed, i));
    }
    packed_must_be_sound(packed, 8);
}

/* --- the first ones --- */

TEST_ON_EACH_ORDER(packed_sort_n, sorts_the_first_objects_and_leaves_the_others)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(MOST, *keep_order);
    static haft_id ids[MOST];
    const uint64_t firsts[] = {0, 1, 2, 500, MOST - 1};

    fill_random(packed, ids, MOST, 50, 3);
    for (int i = 0; i < 5; i++) {
        must(haft_packed_sort_n(packed, firsts[i], by_key, NULL) == HAFT_OK);
        for (uint64_t p = 1; p < firsts[i]; p++) {
            must(packed_value_at(packed, p - 1) < packed_value_at(packed, p));
        }
        for (uint64_t p = firsts[i]; p < MOST; p++) {
            must((uint32_t)packed_value_at(packed, p) == p);
        }
        packed_must_be_sound(packed, 8);
    }
    must(haft_packed_sort_n(packed, UINT64_MAX, by_key, NULL) == HAFT_OK);
    must_be_sorted(packed, ids, MOST);
}

/* --- as ids are listed --- */

TEST_ON_EACH_ORDER(packed_sort_as, brings_listed_objects_to_the_front_and_keeps_the_order_of_others)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(10, *keep_order);
    haft_id ids[6];
    const uint64_t expected[] = {4, 1, 5, 0, 2, 3};

    packed_fill(packed, ids, 6);
    const haft_id listed[] = {ids[4], ids[1], ids[5]};

    expect_status(haft_packed_sort_as(packed, listed, 3), HAFT_OK);
    cr_expect(packed_has(packed, expected, 6));
    packed_must_be_sound(packed, 8);
    expect_status(haft_packed_sort_as(packed, ids, 6), HAFT_OK);
    cr_expect(packed_has(packed, (uint64_t[]){0, 1, 2, 3, 4, 5}, 6));
    expect_status(haft_packed_sort_as(packed, NULL, 0), HAFT_OK);
    cr_expect(packed_has(packed, (uint64_t[]){0, 1, 2, 3, 4, 5}, 6));
}

Test(packed_sort_as, ids_that_are_not_live_or_twice_in_the_list_count_for_nothing)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(10, true);
    haft_id ids[5];

    packed_fill(packed, ids, 5);
    must(haft_packed_free(packed, ids[0]) == HAFT_OK);
    const haft_id listed[] = {ids[0], HAFT_NIL, ids[3], {UINT64_MAX}, ids[3], ids[2], ids[3], {7}};

    expect_status(haft_packed_sort_as(packed, listed, 8), HAFT_OK);
    cr_expect(packed_has(packed, (uint64_t[]){3, 2, 1, 4}, 4));
    packed_must_be_sound(packed, 8);
}

/* Any order, of a full table: no object is lost, and each id keeps its own. */
Test(packed_sort_as, of_every_number_of_objects_keeps_ids)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(MOST, true);
    static haft_id ids[MOST], listed[2 * MOST];
    uint64_t seed = 5;

    for (uint64_t count = 0; count <= MOST; count += count < 70 ? 1 : 93) {
        packed_fill(packed, ids, count);
        for (uint64_t i = 0; i < 2 * count; i++) {
            listed[i] = ids[random_next(&seed) % count];
        }
        must(haft_packed_sort_as(packed, listed, 2 * count) == HAFT_OK);
        packed_must_be_sound(packed, 8);
        for (uint64_t i = 0; i < count; i++) {
            must(*(uint64_t *)haft_packed_resolve(haft_packed_view(packed), ids[i]) == i);
        }
        must(count == 0 || packed_value_at(packed, 0) == *(uint64_t *)haft_packed_resolve(
                                                             haft_packed_view(packed), listed[0]));
        must(haft_packed_clear(packed) == HAFT_OK);
    }
}

Test(packed_sort_as, the_ids_of_a_clone_give_its_order)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(100, false);
    AT_END(dense_end) haft_packed *clone = NULL;
    haft_id ids[100];

    fill_random(packed, ids, 100, 1000, 13);
    must(haft_packed_clone(packed, &clone) == HAFT_OK);
    must(haft_packed_sort(clone, by_key, NULL) == HAFT_OK);
    expect_status(haft_packed_sort_as(packed, haft_packed_ids(clone), 100), HAFT_OK);
    must_be_sorted(packed, ids, 100);
    expect_status(haft_packed_sort_as(packed, haft_packed_ids(packed), 100), HAFT_OK);
    must_be_sorted(packed, ids, 100);
}

/* --- two objects --- */

TEST_ON_EACH_ORDER(packed_swap, objects_change_places_and_ids_lead_to_their_own)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(10, *keep_order);
    haft_id ids[4];

    packed_fill(packed, ids, 4);
    must(haft_packed_kill(packed, ids[3]) == HAFT_OK);
    expect_status(haft_packed_swap(packed, ids[0], ids[3]), HAFT_OK);
    cr_expect(packed_has(packed, (uint64_t[]){3, 1, 2, 0}, 4));
    expect_status(haft_packed_swap(packed, ids[1], ids[1]), HAFT_OK);
    cr_expect(packed_has(packed, (uint64_t[]){3, 1, 2, 0}, 4));
    cr_expect(eq(int, (int)haft_packed_state(packed, ids[3]), HAFT_PACKED_DEAD));
    cr_expect(eq(int, (int)haft_packed_state(packed, ids[0]), HAFT_PACKED_ALIVE));
    packed_must_be_sound(packed, 8);
    must(haft_packed_refresh(packed) == HAFT_OK);
    cr_expect(not(haft_packed_is_live(haft_packed_view(packed), ids[3])));
    packed_must_be_sound(packed, 8);
}

Test(packed_swap, of_what_is_not_live_changes_nothing)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(10, true);
    haft_id ids[3];

    packed_fill(packed, ids, 3);
    must(haft_packed_free(packed, ids[1]) == HAFT_OK);
    expect_status(haft_packed_swap(packed, ids[0], ids[1]), HAFT_STALE);
    expect_status(haft_packed_swap(packed, ids[1], HAFT_NIL), HAFT_STALE);
    expect_status(haft_packed_swap(packed, HAFT_NIL, ids[1]), HAFT_NO_ID);
    cr_expect(packed_has(packed, (uint64_t[]){0, 2}, 2));
}

Test(packed_swap, moves_whole_objects_of_any_size)
{
    static const size_t sizes[] = {1, 3, 63, 64, 65, 200, 4097};
    static unsigned char bytes[4097];
    haft_id ids[2];

    for (int s = 0; s < 7; s++) {
        const haft_packed_options options = {.capacity = 2, .object_size = sizes[s]};
        AT_END(packed_end) haft_packed *packed = packed_open(&options);

        for (int i = 0; i < 2; i++) {
            memset(bytes, 'a' + i, sizes[s]);
            must(haft_packed_insert(packed, bytes, &ids[i]) == HAFT_OK);
        }
        must(haft_packed_swap(packed, ids[0], ids[1]) == HAFT_OK);
        must(memcmp(haft_packed_objects(packed), bytes, sizes[s]) == 0);
        for (int i = 0; i < 2; i++) {
            memset(bytes, 'a' + i, sizes[s]);
            must(memcmp(haft_packed_resolve(haft_packed_view(packed), ids[i]), bytes, sizes[s]) ==
                 0);
        }
        packed_must_be_sound(packed, sizes[s]);
    }
}

/* --- objects of many sizes --- */

static int by_bytes(const void *a, const void *b, void *arg)
{
    return memcmp(a, b, *(size_t *)arg);
}

Test(packed_sort, moves_whole_objects_of_any_size)
{
    static size_t sizes[] = {1, 3, 8, 24, 100, 4097};
    haft_id ids[60];

    for (int s = 0; s < 6; s++) {
        const haft_packed_options options = {.capacity = 60, .object_size = sizes[s]};
        AT_END(packed_end) haft_packed *packed = packed_open(&options);
        char *objects = haft_packed_objects(packed);
        static unsigned char bytes[4097];

        for (int i = 0; i < 60; i++) {
            memset(bytes, 200 - i * 37 % 60, sizes[s]);
            must(haft_packed_insert(packed, bytes, &ids[i]) == HAFT_OK);
        }
        must(haft_packed_sort(packed, by_bytes, &sizes[s]) == HAFT_OK);
        for (int i = 0; i < 60; i++) {
            const unsigned char *object = haft_packed_resolve(haft_packed_view(packed), ids[i]);

            memset(bytes, 200 - i * 37 % 60, sizes[s]);
            must(memcmp(object, bytes, sizes[s]) == 0);
            must(i == 0 || memcmp(objects + (size_t)(i - 1) * sizes[s],
                                  objects + (size_t)i * sizes[s], sizes[s]) < 0);
        }
        packed_must_be_sound(packed, sizes[s]);
    }
}

/* --- callbacks that misbehave, or make use of what they may do --- */

static int at_random(const void *a, const void *b, void *arg)
{
    return (int)(random_next(arg) % 3) - 1;
}

Test(packed_sort, whatever_compare_answers_no_object_is_lost)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(MOST, false);
    static haft_id ids[MOST];
    uint64_t seed = 77;

    packed_fill(packed, ids, MOST);
    for (int round = 0; round < 100; round++) {
        must(haft_packed_sort(packed, at_random, &seed) == HAFT_OK);
        packed_must_be_sound(packed, 8);
        for (uint64_t i = 0; i < MOST; i++) {
            const uint64_t *object = haft_packed_resolve(haft_packed_view(packed), ids[i]);

            must(object != NULL && *object == i);
        }
    }
}

struct meddler {
    haft_packed *packed;
    haft_id victim;
    haft_id inserted;
    uint64_t *still; /* an object that may not move yet */
    bool done;
};

static int meddle(const void *a, const void *b, void *arg)
{
    struct meddler *meddler = arg;

    if (!meddler->done) {
        meddler->done = true;
        must(haft_packed_free(meddler->packed, meddler->victim) == HAFT_IN_CALLBACK);
        must(haft_packed_refresh(meddler->packed) == HAFT_IN_CALLBACK);
        must(haft_packed_clear(meddler->packed) == HAFT_IN_CALLBACK);
        must(haft_packed_sort(meddler->packed, meddle, arg) == HAFT_IN_CALLBACK);
        must(haft_packed_sort_n(meddler->packed, 2, meddle, arg) == HAFT_IN_CALLBACK);
        must(haft_packed_sort_as(meddler->packed, &meddler->victim, 1) == HAFT_IN_CALLBACK);
        must(haft_packed_swap(meddler->packed, meddler->victim, meddler->victim) ==
             HAFT_IN_CALLBACK);
        must(haft_packed_kill(meddler->packed, meddler->victim) == HAFT_OK);
        meddler->inserted = packed_insert_value(meddler->packed, 4711);
    }
    must(haft_packed_resolve(haft_packed_view(meddler->packed), meddler->victim) == meddler->still);
    return by_key(a, b, NULL);
}

Test(packed_sort, compare_may_insert_and_kill_but_not_move_objects)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(101, false);
    static haft_id ids[100];
    uint64_t position = 0;

    fill_random(packed, ids, 100, 1000, 13);
    struct meddler meddler = {
        .packed = packed,
        .victim = ids[50],
        .still = haft_packed_resolve(haft_packed_view(packed), ids[50]),
    };

    expect_status(haft_packed_sort(packed, meddle, &meddler), HAFT_OK);
    cr_expect(eq(u64, haft_packed_count(packed), 101));
    cr_expect(eq(int, (int)haft_packed_state(packed, ids[50]), HAFT_PACKED_DEAD));
    expect_status(haft_packed_position(packed, meddler.inserted, &position), HAFT_OK);
    cr_expect(eq(u64, position, 100)); /* behind, though its key is the least */
    cr_expect(eq(u64, packed_value_at(packed, 100), 4711));
    for (uint64_t i = 1; i < 100; i++) {
        must(packed_value_at(packed, i - 1) < packed_value_at(packed, i));
    }
    packed_must_be_sound(packed, 8);
}

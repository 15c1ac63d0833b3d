/* The packed table: ids that no table gave, ids of other tables, last generations. */
#include "tests/packed/packed.h"

TestSuite(packed_forged, .timeout = SUITE_SECONDS);
TestSuite(packed_generation, .timeout = SUITE_SECONDS);

#define OBJECTS 500
#define RANDOM_VALUES 10000000

static haft_packed *open_layout(uint64_t capacity, haft_layout layout, uint64_t tag, uint64_t first)
{
    const haft_packed_options options = {
        .capacity = capacity,
        .object_size = 8,
        .layout = layout,
        .tag = tag,
        .first_generation = first,
    };

    return packed_open(&options);
}

/* Refused by every function that takes an id; says what they say. */
static haft_status must_be_refused(haft_packed *packed, haft_id id)
{
    const haft_packed_view view = haft_packed_view_get(packed);
    const haft_status said = haft_packed_diagnose(packed, id);
    const uint64_t count = haft_packed_count(packed);
    const uint64_t dead = haft_packed_dead_count(packed);
    uint64_t position = 77;

    must(said != HAFT_OK);
    must(haft_packed_resolve(view, id) == NULL);
    must(!haft_packed_is_live(view, id));
    must(haft_packed_state(packed, id) == HAFT_PACKED_UNUSED);
    must(haft_packed_position(packed, id, &position) == said && position == 77);
    must(haft_packed_kill(packed, id) == said);
    must(haft_packed_free(packed, id) == said);
    must(haft_packed_count(packed) == count);
    must(haft_packed_dead_count(packed) == dead);
    return said;
}

/* A table with live, dead, freed and fresh slots; `live` has the ids of those that are live. */
static haft_packed *open_mixed(haft_layout layout, haft_id *live)
{
    haft_packed *packed = open_layout(2 * OBJECTS, layout, haft_field_max(layout.tag_bits), 0);

    for (int i = 0; i < OBJECTS; i++) {
        live[i] = packed_insert_value(packed, 1);
        const haft_id id = packed_insert_value(packed, 2);

        must(i % 3 == 0 || haft_packed_free(packed, id) == HAFT_OK);
        must(i % 3 != 0 || haft_packed_free(packed, live[i]) == HAFT_OK);
        live[i] = i % 3 == 0 ? id : live[i];
        must(i % 7 != 0 || haft_packed_kill(packed, live[i]) == HAFT_OK);
    }
    return packed;
}

static bool is_among(const haft_id *live, haft_id id)
{
    for (int i = 0; i < OBJECTS; i++) {
        if (haft_id_equal(live[i], id)) {
            return true;
        }
    }
    return false;
}

static void must_be_as_before(haft_packed *packed, const haft_id *live)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_packed_is_live(haft_packed_view_get(packed), live[i]));
        must((haft_packed_state(packed, live[i]) == HAFT_PACKED_DEAD) == (i % 7 == 0));
    }
    must(haft_packed_count(packed) == OBJECTS);
    packed_must_be_sound(packed, 8);
}

Test(packed_forged, ten_million_random_values_find_nothing_and_change_nothing)
{
    static const haft_layout each[] = {{32, 32, 0}, {16, 16, 0}, {12, 12, 8}, {20, 12, 0}};
    haft_id live[OBJECTS];
    uint64_t seed = 11;

    for (int i = 0; i < 4; i++) {
        const haft_layout layout = each[i];
        const unsigned width =
            (unsigned)layout.index_bits + layout.generation_bits + layout.tag_bits;
        haft_packed *packed = open_mixed(layout, live);

        for (int n = 0; n < RANDOM_VALUES / 4; n++) {
            const uint64_t bits = random_next(&seed);
            const haft_id id = {n % 2 == 0 ? bits : bits & haft_field_max(width)};

            if (haft_packed_is_live(haft_packed_view_get(packed), id)) {
                must(is_among(live, id));
            } else {
                must_be_refused(packed, id);
            }
        }
        must_be_as_before(packed, live);
        packed_close(packed);
    }
}

Test(packed_forged, every_neighbour_of_a_live_id_by_one_or_two_bits_is_refused)
{
    haft_id live[OBJECTS];
    haft_packed *packed = open_mixed(HAFT_LAYOUT_20_12, live);

    for (int i = 0; i < OBJECTS; i++) {
        for (unsigned a = 0; a < 64; a++) {
            for (unsigned b = 0; b < 64; b++) {
                const haft_id id = {live[i].bits ^ (UINT64_C(1) << a | UINT64_C(1) << b)};

                if (haft_packed_is_live(haft_packed_view_get(packed), id)) {
                    must(is_among(live, id));
                } else {
                    must_be_refused(packed, id);
                }
            }
        }
    }
    must_be_as_before(packed, live);
    packed_close(packed);
}

/* Every pattern of a small layout, after each step of a walk through all states of four slots. */
Test(packed_forged, in_the_smallest_tables_every_pattern_but_the_live_ids_is_refused)
{
    const haft_layout layout = HAFT_LAYOUT_OF(3, 3, 2);

    for (uint64_t capacity = 1; capacity <= 4; capacity++) {
        haft_packed *packed = open_layout(capacity, layout, 2, 0);
        bool is_live[1 << 8] = {false};
        uint64_t seed = capacity;

        for (int n = 0; n < 200; n++) {
            haft_id id = {random_next(&seed) >> 9 & 0xff};

            if (n % 3 != 0 && haft_packed_insert(packed, NULL, &id) == HAFT_OK) {
                is_live[id.bits] = true;
            } else if (haft_packed_count(packed) != 0) {
                id = haft_packed_id_at(packed, id.bits % haft_packed_count(packed));
                must(n % 2 == 0 || haft_packed_kill(packed, id) != HAFT_STALE);
                must(haft_packed_free(packed, id) == HAFT_OK);
                is_live[id.bits] = false;
            }
            for (uint64_t bits = 0; bits < 1 << 8; bits++) {
                must(is_live[bits] ==
                     haft_packed_is_live(haft_packed_view_get(packed), (haft_id){bits}));
                must(is_live[bits] || must_be_refused(packed, (haft_id){bits}) != HAFT_OK);
                must_be_refused(packed, (haft_id){bits | 1 << 8});
                must_be_refused(packed, (haft_id){bits | UINT64_C(1) << 63});
            }
        }
        packed_close(packed);
    }
}

Test(packed_forged, each_mark_with_each_generation_matches_nothing)
{
    haft_packed *packed = open_layout(1, HAFT_LAYOUT_16_16, 0, 0);
    const haft_id id = packed_insert_value(packed, 1);

    for (int state = 0; state < 2; state++) {
        for (uint64_t mark = 0; mark < HAFT_FIRST_INDEX; mark++) {
            for (uint64_t generation = 0; generation < 65536; generation++) {
                const haft_id forged = {mark | generation << 16};

                must(must_be_refused(packed, forged) ==
                     (forged.bits == 0 ? HAFT_NO_ID : HAFT_MALFORMED));
            }
        }
        must(state == 1 || haft_packed_free(packed, id) == HAFT_OK);
    }
    packed_close(packed);
}

Test(packed_forged, an_id_of_a_larger_table_is_refused_by_a_smaller_one)
{
    haft_packed *large = packed_open_values(100000, false);
    haft_packed *small = packed_open_values(10, false);

    for (int i = 0; i < 100000; i++) {
        must(must_be_refused(small, packed_insert_value(large, 1)) == HAFT_NEVER_ISSUED);
    }
    packed_close(small);
    packed_close(large);
}

Test(packed_forged, a_tag_tells_tables_apart_at_equal_index_and_generation)
{
    haft_packed *a = open_layout(10, HAFT_LAYOUT_32_24_8, 1, 0);
    haft_packed *b = open_layout(10, HAFT_LAYOUT_32_24_8, 2, 0);

    for (int i = 0; i < 10; i++) {
        const haft_id of_a = packed_insert_value(a, 1);
        const haft_id of_b = packed_insert_value(b, 1);

        must((of_a.bits & UINT64_MAX >> 8) == (of_b.bits & UINT64_MAX >> 8));
        must(must_be_refused(b, of_a) == HAFT_FOREIGN);
        must(must_be_refused(a, of_b) == HAFT_FOREIGN);
    }
    packed_close(a);
    packed_close(b);
}

TEST_ON_EACH_ORDER(packed_forged, nil_is_no_id_in_an_empty_full_dead_and_cleared_table)
{
    haft_packed *packed = packed_open_values(4, *keep_order);
    haft_id ids[4];

    must(must_be_refused(packed, HAFT_NIL) == HAFT_NO_ID);
    packed_fill(packed, ids, 4);
    must(must_be_refused(packed, HAFT_NIL) == HAFT_NO_ID);
    for (int i = 0; i < 4; i++) {
        must(haft_packed_kill(packed, ids[i]) == HAFT_OK);
    }
    must(must_be_refused(packed, HAFT_NIL) == HAFT_NO_ID);
    must(haft_packed_clear(packed) == HAFT_OK);
    must(must_be_refused(packed, HAFT_NIL) == HAFT_NO_ID);
    packed_close(packed);
}

/* --- last generations --- */

/* Each slot, from the first to the last, lives its last life and is never used again. */
static void exhaust_all(haft_layout layout, bool by_refresh)
{
    haft_packed *packed = open_layout(4, layout, haft_field_max(layout.tag_bits),
                                      haft_field_max(layout.generation_bits));
    haft_id ids[4];
    haft_id id;

    packed_fill(packed, ids, 4);
    for (uint64_t i = 0; i < 4; i++) {
        must(haft_id_generation(layout, ids[i]) == haft_field_max(layout.generation_bits));
        must(haft_id_tag(layout, ids[i]) == haft_field_max(layout.tag_bits));
        if (by_refresh) {
            must(haft_packed_kill(packed, ids[i]) == HAFT_OK);
            must(haft_packed_refresh(packed) == HAFT_OK);
        } else {
            must(haft_packed_free(packed, ids[i]) == HAFT_OK);
        }
        must(haft_packed_insert(packed, NULL, &id) == HAFT_FULL);
        must(haft_packed_count(packed) == 3 - i);
        must(haft_packed_available(packed) == 0);
        for (uint64_t old = 0; old <= i; old++) {
            must(must_be_refused(packed, ids[old]) == HAFT_EXHAUSTED);
        }
        packed_must_be_sound(packed, 8);
    }
    packed_close(packed);
}

Test(packed_generation, each_slot_first_to_last_is_exhausted_after_its_last_life)
{
    for (int i = 0; i < LAYOUTS; i++) {
        exhaust_all(layouts[i], false);
        exhaust_all(layouts[i], true);
    }
}

Test(packed_generation, the_table_works_on_without_a_first_middle_or_last_slot)
{
    for (int at = 0; at < 9; at += 4) {
        haft_packed *packed = open_layout(9, HAFT_LAYOUT_32_24_8, 255, 0xfffffe);
        haft_id ids[9];

        packed_fill(packed, ids, 9);
        must(haft_packed_free(packed, ids[at]) == HAFT_OK);
        const haft_id last_life = packed_insert_value(packed, 1);

        must((uint32_t)last_life.bits == (uint32_t)ids[at].bits);
        must(haft_id_generation(HAFT_LAYOUT_32_24_8, last_life) == 0xffffff);
        must(haft_packed_free(packed, last_life) == HAFT_OK);
        must(must_be_refused(packed, ids[at]) == HAFT_EXHAUSTED);
        must(haft_packed_available(packed) == 0);
        must(haft_packed_clear(packed) == HAFT_OK);
        must(haft_packed_available(packed) == 8);
        packed_fill(packed, ids, 8);
        must(haft_packed_insert(packed, NULL, ids) == HAFT_FULL);
        packed_must_be_sound(packed, 8);
        packed_close(packed);
    }
}

Test(packed_generation, highest_index_generation_and_tag_together_are_an_ordinary_id)
{
    const haft_layout layout = HAFT_LAYOUT_OF(3, 5, 56);
    haft_packed *packed = open_layout(4, layout, haft_field_max(56), 31);
    haft_id ids[4];

    packed_fill(packed, ids, 4);
    cr_expect(eq(u64, ids[3].bits, UINT64_MAX));
    cr_expect(haft_packed_is_live(haft_packed_view_get(packed), ids[3]));
    expect_status(haft_packed_kill(packed, ids[3]), HAFT_OK);
    expect_status(haft_packed_refresh(packed), HAFT_OK);
    expect_status(haft_packed_diagnose(packed, ids[3]), HAFT_EXHAUSTED);
    packed_must_be_sound(packed, 8);
    packed_close(packed);
}

Test(packed_generation, clear_exhausts_slots_in_their_last_life)
{
    haft_packed *packed = open_layout(4, HAFT_LAYOUT_OF(3, 1, 0), 0, 1);
    haft_id ids[4];

    packed_fill(packed, ids, 3);
    must(haft_packed_clear(packed) == HAFT_OK);
    cr_expect(eq(u64, haft_packed_available(packed), 1));
    packed_insert_value(packed, 1);
    expect_status(haft_packed_insert(packed, NULL, &ids[3]), HAFT_FULL);
    packed_close(packed);
}

/* Random, neighbouring, foreign and last ids into all that haft_local takes ids for. */
#include "tests/support.h"
#include <string.h>

TestSuite(local_forged, .timeout = SUITE_SECONDS);
TestSuite(local_bits, .timeout = SUITE_SECONDS);

#define CAPACITY 60
#define RANDOM_VALUES 10000000

#define FORGED_LAYOUTS 5
static const haft_layout some[FORGED_LAYOUTS] = {
    {32, 32, 0}, {16, 16, 0}, {20, 12, 0}, {32, 24, 8}, {6, 3, 2}};

struct table {
    haft_local *local;
    haft_view view;
    haft_layout layout;
    uint64_t tag;
    haft_id ids[CAPACITY]; /* a third live, a third freed, a third reserved */
};

static struct table open_mixed(haft_layout layout)
{
    struct table table = {.layout = layout, .tag = haft_field_max(layout.tag_bits)};
    const haft_local_options options = {.capacity = CAPACITY, .layout = layout, .tag = table.tag};

    assert_status(haft_local_open(&options, &table.local), HAFT_OK);
    table.view = haft_local_view(table.local);
    for (int i = 0; i < CAPACITY; i++) {
        must((i % 3 == 2 ? haft_local_reserve(table.local, &table.ids[i], NULL)
                         : haft_local_insert(table.local, NULL, &table.ids[i])) == HAFT_OK);
    }
    for (int i = 1; i < CAPACITY; i += 3) {
        must(haft_local_free(table.local, table.ids[i]) == HAFT_OK);
    }
    return table;
}

static bool is_live(const struct table *table, haft_id id)
{
    for (int i = 0; i < CAPACITY; i += 3) {
        if (haft_id_equal(table->ids[i], id)) {
            return true;
        }
    }
    return false;
}

/* Whether `id` may come to life: fields right, its slot free and beyond the first life. */
static bool may_live(const struct table *table, haft_id id)
{
    const uint64_t index = haft_id_index(table->layout, id);
    const uint64_t generation = haft_id_generation(table->layout, id);

    return haft_id_equal(id, haft_id_pack(table->layout, index, generation, table->tag)) &&
           index >= 4 && index < 4 + CAPACITY && index % 3 == 2 && generation >= 2;
}

static void expect_nothing(struct table *table, haft_id id)
{
    const haft_status said = haft_local_diagnose(table->local, id);

    if (is_live(table, id)) {
        must(said == HAFT_OK && haft_resolve(table->view, id) != NULL);
        must(haft_local_restore(table->local, id, NULL) == HAFT_OCCUPIED);
        return;
    }
    must(said != HAFT_OK && !haft_is_live(table->view, id));
    must(haft_resolve(table->view, id) == NULL);
    must(haft_local_free(table->local, id) == said);
    if (!may_live(table, id)) {
        must(haft_local_restore(table->local, id, NULL) != HAFT_OK);
    } else {
        must(haft_local_restore(table->local, id, NULL) == HAFT_OK);
        must(haft_local_free(table->local, id) == HAFT_OK);
        haft_local_close(table->local); /* the slot has moved on: begin again */
        *table = open_mixed(table->layout);
    }
}

Test(local_forged, ten_million_random_values_find_restore_and_free_nothing)
{
    uint64_t seed = 67;

    for (int i = 0; i < FORGED_LAYOUTS - 1; i++) {
        struct table table = open_mixed(some[i]);

        for (int n = 0; n < RANDOM_VALUES / (FORGED_LAYOUTS - 1); n++) {
            expect_nothing(&table, (haft_id){random_next(&seed)});
        }
        cr_expect(eq(u64, haft_local_count(table.local), CAPACITY / 3));
        haft_local_close(table.local);
    }
}

Test(local_forged, one_bit_neighbours_of_all_ids_live_only_where_restoring_is_right)
{
    for (int i = 0; i < FORGED_LAYOUTS; i++) {
        struct table table = open_mixed(some[i]);

        for (int k = 0; k < CAPACITY; k++) {
            for (unsigned bit = 0; bit < 64; bit++) {
                expect_nothing(&table, (haft_id){table.ids[k].bits ^ UINT64_C(1) << bit});
            }
        }
        cr_expect(eq(u64, haft_local_count(table.local), CAPACITY / 3));
        haft_local_close(table.local);
    }
}

Test(local_forged, every_pattern_of_a_small_layout_and_marks_among_them)
{
    struct table table = open_mixed(some[4]);

    for (uint64_t bits = 0; bits < 1 << 12; bits++) {
        expect_nothing(&table, (haft_id){bits});
    }
    haft_local_close(table.local);
}

/* Nil, in a table that is empty, full, cleared, trimmed and loaded. */
static void expect_no_nil(haft_local *local)
{
    cr_expect(not(haft_is_live(haft_local_view(local), HAFT_NIL)));
    expect_status(haft_local_free(local, HAFT_NIL), HAFT_NO_ID);
    expect_status(haft_local_restore(local, HAFT_NIL, NULL), HAFT_NO_ID);
    expect_status(haft_local_restore_free(local, HAFT_NIL), HAFT_NO_ID);
    expect_status(haft_local_diagnose(local, HAFT_NIL), HAFT_NO_ID);
}

Test(local_forged, nil_resolves_in_no_state_of_the_table)
{
    const haft_local_options options = {.capacity = 5000, .object_size = 4088};
    haft_local *local;
    haft_id id;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    expect_no_nil(local);
    for (int i = 0; i < 5000; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    }
    expect_no_nil(local);
    haft_local_clear(local);
    expect_no_nil(local);
    must(haft_local_trim(local, NULL) == HAFT_OK);
    expect_no_nil(local);
    haft_local_load_begin(local);
    expect_no_nil(local);
    haft_local_load_end(local);
    expect_no_nil(local);
    haft_local_close(local);
}

/* --- last generations --- */

static void expect_last_life(haft_layout layout, haft_local_reuse reuse, uint64_t index)
{
    const haft_local_options options = {
        .capacity = 4 + 4 * (uint64_t)(layout.index_bits > 3),
        .layout = layout,
        .tag = haft_field_max(layout.tag_bits),
        .reuse = reuse,
        .first_generation = haft_field_max(layout.generation_bits),
    };
    haft_local *local;
    haft_id ids[8];
    haft_id id;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    for (uint64_t i = 0; i < options.capacity; i++) {
        must(haft_local_insert(local, NULL, &ids[i]) == HAFT_OK);
    }
    must(haft_local_free(local, ids[index]) == HAFT_OK);
    expect_status(haft_local_diagnose(local, ids[index]), HAFT_EXHAUSTED);
    expect_status(haft_local_insert(local, NULL, &id), HAFT_FULL);
    expect_status(haft_local_restore(local, ids[index], NULL), HAFT_EXHAUSTED);
    must(haft_local_trim(local, NULL) == HAFT_OK);
    for (uint64_t i = 0; i < options.capacity; i++) {
        cr_expect(eq(int, haft_is_live(haft_local_view(local), ids[i]), i != index));
    }
    haft_local_close(local);
}

Test(local_bits, at_the_last_generation_of_first_middle_and_last_slot_only_it_is_exhausted)
{
    for (int i = 0; i < LAYOUTS; i++) {
        for (int reuse = HAFT_REUSE_LIFO; reuse <= HAFT_REUSE_FIFO; reuse++) {
            expect_last_life(layouts[i], (haft_local_reuse)reuse, 0);
            expect_last_life(layouts[i], (haft_local_reuse)reuse, 2);
            expect_last_life(layouts[i], (haft_local_reuse)reuse,
                             layouts[i].index_bits > 3 ? 7 : 3);
        }
    }
}

Test(local_bits, an_id_of_a_larger_table_is_nothing_in_a_smaller_one)
{
    const haft_local_options options = {.capacity = 5000};
    struct table small = open_mixed(HAFT_LAYOUT_32_32);
    haft_local *large;
    haft_id id;

    assert_status(haft_local_open(&options, &large), HAFT_OK);
    for (int i = 0; i < 5000; i++) {
        must(haft_local_insert(large, NULL, &id) == HAFT_OK);
        if (i >= CAPACITY) {
            must(!haft_is_live(small.view, id));
            must(haft_local_free(small.local, id) == HAFT_NEVER_ISSUED);
            must(haft_local_restore(small.local, id, NULL) == HAFT_OUT_OF_RANGE);
        }
    }
    haft_local_close(large);
    haft_local_close(small.local);
}

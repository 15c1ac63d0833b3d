/* Ids that no table gave, or another one, in functions of every kind of table.  All: fuzz/ids.c. */
#include "tests/support.h"
#include <haft/diagnose.h>
#include <haft/kit/restore.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <haft/table.h>
#include <haft/view.h>

TestSuite(forged, .timeout = SUITE_SECONDS);
TestSuite(foreign, .timeout = SUITE_SECONDS);
TestSuite(nil, .timeout = SUITE_SECONDS);

#define OBJECTS 500
#define RANDOM_VALUES 1000000

/* --- refused --- */

/* Looked up by all ways that only tables with a view have. */
static void must_not_be_found(const struct subject *subject, haft_id id)
{
    void *object = &object;

    must(haft_resolve_many(subject->view, &id, &object, 1) == 0 && object == NULL);
    must(haft_ref_get(haft_ref_of(subject->view, id)) == NULL);
    must(haft_id_is_nil(haft_ref_id(haft_ref_of(subject->view, id))));
}

/* What may be restored lives then; nothing else does. */
static void must_live_if(struct subject *subject, haft_id id, bool restored)
{
    const haft_layout layout = subject_layout(subject);
    const uint64_t tag = haft_field_max(layout.tag_bits);
    const uint64_t index = haft_id_index(layout, id);

    must(subject_is_live(subject, id) == restored);
    if (restored) {
        must(index >= HAFT_FIRST_INDEX && index <= subject->view.mask);
        must(id.bits == haft_id_pack(layout, index, haft_id_generation(layout, id), tag).bits);
        must(subject_free(subject, id) == HAFT_OK);
    }
}

static void must_be_refused_by_local(struct subject *subject, haft_id id)
{
    must_not_be_found(subject, id);
    must_live_if(subject, id, haft_local_restore(subject->local, id, NULL) == HAFT_OK);
}

static void must_be_refused_by_shared(struct subject *subject, haft_id id, haft_status said)
{
    struct shared *shared = &subject->shared;
    haft_status status = HAFT_OK;

    must(haft_table_free(shared->table, id) == said);
    must(haft_free_many(shared->worker, &id, 1, &status) == 0 && status == said);
    haft_section_begin(shared->domain);
    must_not_be_found(subject, id);
    if (haft_table_info(shared->table).pins) {
        must(haft_pin(shared->table, id) == NULL);
        must(haft_unpin(shared->table, id) == HAFT_NOT_PINNED);
        must(haft_pins(shared->table, id) == 0);
    }
    haft_section_end(shared->domain);
}

static void must_be_refused_by_packed(struct subject *subject, haft_id id, haft_status said)
{
    haft_packed *packed = subject->packed;
    const uint64_t count = haft_packed_count(packed);
    const uint64_t dead = haft_packed_dead_count(packed);
    uint64_t position = 77;

    must(haft_packed_state(packed, id) == HAFT_PACKED_UNUSED);
    must(haft_packed_position(packed, id, &position) == said && position == 77);
    must(haft_packed_kill(packed, id) == said);
    must(haft_packed_free(packed, id) == said);
    must(haft_packed_count(packed) == count);
    must(haft_packed_dead_count(packed) == dead);
}

static void must_be_refused_by_counted(struct subject *subject, haft_id id, haft_status said)
{
    uint64_t object;

    must(!haft_counted_again(subject->counted, id));
    must(haft_counted_release(subject->counted, id) == HAFT_NOT_HELD);
    must(haft_counted_take(subject->counted, id, &object) == said);
}

/* By every function that takes an id; says what they say. */
static haft_status must_be_refused(struct subject *subject, haft_id id)
{
    const haft_status said = subject_diagnose(subject, id);

    must(said != HAFT_OK);
    must(subject_find(subject, id) == NULL);
    must(!subject_is_live(subject, id));
    must(subject->packed != NULL || subject_free(subject, id) == said);
    if (subject->local != NULL) {
        must_be_refused_by_local(subject, id);
    } else if (subject->packed != NULL) {
        must_be_refused_by_packed(subject, id, said);
    } else if (subject->counted != NULL) {
        must_be_refused_by_counted(subject, id, said);
    } else {
        must_be_refused_by_shared(subject, id, said);
    }
    return said;
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

static void must_be_refused_or_among(struct subject *subject, const haft_id *live, haft_id id)
{
    if (subject_is_live(subject, id)) {
        must(is_among(live, id));
    } else {
        must_be_refused(subject, id);
    }
}

/* Live slots, and between them freed ones and, in packed tables, dead ones. */
static struct subject open_mixed(int kind, haft_layout layout, haft_id *live)
{
    const haft_table_options options = {.capacity = 2 * OBJECTS,
                                        .object_size = 8,
                                        .layout = layout,
                                        .tag = haft_field_max(layout.tag_bits),
                                        .pins = true};
    struct subject subject = subject_open(kind, &options);
    haft_id id;

    for (int i = 0; i < OBJECTS; i++) {
        must(subject_insert(&subject, NULL, &live[i]) == HAFT_OK);
        must(subject_insert(&subject, NULL, &id) == HAFT_OK);
        must(subject_free(&subject, i % 3 == 0 ? live[i] : id) == HAFT_OK);
        live[i] = i % 3 == 0 ? id : live[i];
        must(kind != DENSE || i % 7 != 0 || haft_packed_kill(subject.packed, live[i]) == HAFT_OK);
    }
    subject_settle(&subject);
    return subject;
}

static void close_mixed(struct subject *subject, const haft_id *live)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(subject_is_live(subject, live[i]));
        must(subject->kind != SHARED || haft_pins(subject->shared.table, live[i]) == 0);
        must(subject->kind != DENSE ||
             (haft_packed_state(subject->packed, live[i]) == HAFT_PACKED_DEAD) == (i % 7 == 0));
    }
    must(subject_live(subject) == OBJECTS);
    subject_close(subject);
}

TEST_ON_EACH_KIND(forged, a_million_random_values_find_nothing_and_change_nothing)
{
    static const haft_layout each[] = {
        {32, 32, 0, 0}, {16, 16, 0, 0}, {12, 12, 8, 0}, {20, 12, 0, 0}};
    /* Kinds that differ in how objects are freed meet fewer. */
    const int values = RANDOM_VALUES / (*kind == FIFO || *kind == KILLED ? 50 : 1);
    haft_id live[OBJECTS];
    uint64_t seed = 11;

    for (int i = 0; i < 4; i++) {
        const unsigned width =
            (unsigned)each[i].index_bits + each[i].generation_bits + each[i].tag_bits;
        struct subject subject = open_mixed(*kind, each[i], live);

        for (int n = 0; n < values / 4; n++) {
            const uint64_t bits = random_next(&seed);
            const haft_id id = {n % 2 == 0 ? bits : bits & haft_field_max(width)};

            must_be_refused_or_among(&subject, live, id);
        }
        close_mixed(&subject, live);
    }
}

TEST_ON_EACH_KIND(forged, every_neighbour_of_a_live_id_by_one_or_two_bits_is_refused)
{
    haft_id live[OBJECTS];
    struct subject subject = open_mixed(*kind, HAFT_LAYOUT_20_12, live);

    for (int i = 0; i < OBJECTS; i++) {
        for (unsigned a = 0; a < 64; a++) {
            for (unsigned b = 0; b <= a; b++) {
                const uint64_t bits = UINT64_C(1) << a | UINT64_C(1) << b;

                must_be_refused_or_among(&subject, live, (haft_id){live[i].bits ^ bits});
            }
        }
    }
    close_mixed(&subject, live);
}

/* Every pattern of a small layout, after each step of a walk through the states of few slots. */
TEST_ON_EACH_KIND(forged, in_the_smallest_tables_every_pattern_but_the_live_ids_is_refused)
{
    for (uint64_t capacity = 1; capacity <= 4; capacity++) {
        const haft_table_options options = {
            .capacity = capacity, .layout = HAFT_LAYOUT_OF(3, 3, 2), .tag = 3};
        AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
        uint64_t seed = capacity;
        haft_id live[4];
        int count = 0;

        for (int n = 0; n < 200; n++) {
            if (n % 3 != 0 && subject_insert(&subject, NULL, &live[count]) == HAFT_OK) {
                count++;
            } else if (count != 0) {
                must(subject_free(&subject, live[0]) == HAFT_OK);
                live[0] = live[--count];
            }
            for (uint64_t bits = 0; bits < 1 << 8; bits++) {
                const uint64_t above = UINT64_C(1) << (8 + random_next(&seed) % 56);
                bool is_live = false;

                for (int i = 0; i < count; i++) {
                    is_live |= live[i].bits == bits;
                }
                must(is_live == subject_is_live(&subject, (haft_id){bits}));
                must(is_live || must_be_refused(&subject, (haft_id){bits}) != HAFT_OK);
                must(must_be_refused(&subject, (haft_id){bits | above}) == HAFT_MALFORMED);
            }
        }
    }
}

TEST_ON_EACH_KIND(forged, each_mark_with_each_generation_matches_nothing)
{
    const haft_table_options options = {.capacity = 1, .layout = HAFT_LAYOUT_16_16};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id id;

    assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    for (int state = 0; state < 2; state++) {
        for (uint64_t mark = 0; mark < HAFT_FIRST_INDEX; mark++) {
            for (uint64_t generation = 0; generation < 65536; generation++) {
                const haft_id forged = {mark | generation << 16};

                must(must_be_refused(&subject, forged) ==
                     (forged.bits == 0 ? HAFT_NO_ID : HAFT_MALFORMED));
            }
        }
        must(state == 1 || subject_free(&subject, id) == HAFT_OK);
        subject_settle(&subject);
    }
}

TEST_ON_EACH_TABLE(forged, indices_beyond_the_table_with_each_state_of_the_slot_they_alias)
{
    const haft_table_options options = {.capacity = 4, .layout = HAFT_LAYOUT_16_16};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[16];

    subject_fill(&subject, ids, 16);
    for (int state = 0; state < 3; state++) {
        for (uint64_t index = subject.view.mask + 1; index < 65536; index++) {
            for (uint64_t generation = 0; generation < 4; generation++) {
                const haft_id forged = {index | generation << 16};

                must(must_be_refused(&subject, forged) == HAFT_NEVER_ISSUED);
            }
        }
        if (state == 0) {
            must(subject_free(&subject, ids[1]) == HAFT_OK);
            subject_settle(&subject);
        } else {
            must(subject_reserve(&subject, &ids[state], NULL) == HAFT_OK || state == 2);
        }
    }
}

/* --- from another table --- */

/* Of the first table: two domains of one flavour would register a thread twice. */
static int beside(int kind)
{
    return kind == SHARED ? LOCAL : kind;
}

TEST_ON_EACH_KIND(foreign, an_id_of_a_larger_table_is_refused_by_a_smaller_one)
{
    const haft_table_options large_options = {.capacity = 100000};
    const haft_table_options small_options = {.capacity = 10};
    AT_END(subject_close) struct subject large = subject_open(beside(*kind), &large_options);
    AT_END(subject_close) struct subject small = subject_open(*kind, &small_options);
    haft_id id = HAFT_NIL;

    for (int i = 0; i < 100000; i++) {
        must(subject_insert(&large, NULL, &id) == HAFT_OK);
        must(must_be_refused(&small, id) == HAFT_NEVER_ISSUED);
    }
}

/* Two tables whose ids differ in one of `a` and `b` alone. */
static void expect_apart(int kind, haft_table_options a, haft_table_options b, haft_status why)
{
    struct subject one = subject_open(beside(kind), &a);
    AT_END(subject_close) struct subject other = subject_open(kind, &b);
    haft_id of_one;
    haft_id of_other;

    for (int i = 0; i < 10; i++) {
        assert_status(subject_insert(&one, NULL, &of_one), HAFT_OK);
        assert_status(subject_insert(&other, NULL, &of_other), HAFT_OK);
        cr_assert(eq(u32, haft_id_index(subject_layout(&one), of_one),
                     haft_id_index(subject_layout(&other), of_other)));
        cr_expect(eq(int, subject_diagnose(&other, of_one), why));
        cr_expect(eq(int, subject_diagnose(&one, of_other), why));
        cr_expect(eq(int, subject_free(&other, of_one), why));
        cr_expect(not(subject_is_live(&one, of_other)));
        cr_expect(subject_is_live(&one, of_one));
        cr_expect(subject_is_live(&other, of_other));
    }
    subject_close(&one);
}

TEST_ON_EACH_KIND(foreign, a_tag_tells_tables_apart_at_equal_index_and_generation)
{
    const haft_layout layout = HAFT_LAYOUT_32_24_8;
    const haft_layout wide = HAFT_LAYOUT_OF(8, 16, 40);

    expect_apart(*kind, (haft_table_options){.capacity = 10, .layout = layout, .tag = 1},
                 (haft_table_options){.capacity = 10, .layout = layout, .tag = 2}, HAFT_FOREIGN);
    expect_apart(*kind, (haft_table_options){.capacity = 10, .layout = wide, .tag = 1},
                 (haft_table_options){.capacity = 10, .layout = wide, .tag = UINT64_C(1) << 39},
                 HAFT_FOREIGN);
}

TEST_ON_EACH_KIND(foreign, different_first_generations_tell_tables_apart)
{
    expect_apart(*kind, (haft_table_options){.capacity = 10, .first_generation = 1000},
                 (haft_table_options){.capacity = 10, .first_generation = 2000}, HAFT_NEVER_ISSUED);
}

TEST_ON_EACH_KIND(foreign, small_integers_are_never_ids_of_a_default_table)
{
    const haft_table_options options = {.capacity = 1000};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[1000];

    cr_assert(eq(u64, subject_fill(&subject, ids, 1000), 1000));
    for (uint64_t bits = 0; bits < UINT64_C(1) << 20; bits++) {
        must(!subject_is_live(&subject, (haft_id){bits}));
    }
}

/* --- nil, and its opposite --- */

static void must_be_no_id(struct subject *subject)
{
    must(must_be_refused(subject, HAFT_NIL) == HAFT_NO_ID);
    if (subject->local != NULL) {
        must(haft_local_restore(subject->local, HAFT_NIL, NULL) == HAFT_NO_ID);
        must(haft_local_reserve_at(subject->local, HAFT_NIL, NULL) == HAFT_NO_ID);
        must(haft_local_restore_free(subject->local, HAFT_NIL) == HAFT_NO_ID);
    }
}

/* What only some kinds have. */
static void through_other_states(struct subject *subject, haft_id id)
{
    if (subject->local != NULL) {
        haft_local_clear(subject->local);
        must_be_no_id(subject);
        must(haft_local_trim(subject->local, NULL) == HAFT_OK);
        must_be_no_id(subject);
        haft_local_load_begin(subject->local);
        must_be_no_id(subject);
        haft_local_load_end(subject->local);
        must_be_no_id(subject);
    } else if (subject->packed != NULL) {
        haft_packed_kill(subject->packed, id);
        must_be_no_id(subject);
        must(haft_packed_clear(subject->packed) == HAFT_OK);
        must_be_no_id(subject);
    } else if (subject_reserve(subject, &id, NULL) == HAFT_OK) {
        must_be_no_id(subject);
        subject_abort(subject, id);
        must_be_no_id(subject);
    }
}

static void through_all_states(int kind, haft_layout layout, uint64_t first)
{
    const haft_table_options options = {
        .capacity = 4, .object_size = 4088, .layout = layout, .first_generation = first};
    AT_END(subject_close) struct subject subject = subject_open(kind, &options);
    haft_id ids[16];

    must_be_no_id(&subject); /* empty */
    const uint64_t count = subject_fill(&subject, ids, 16);

    must_be_no_id(&subject); /* full */
    for (uint64_t i = 0; i < count; i++) {
        assert_status(subject_free(&subject, ids[i]), HAFT_OK);
        must_be_no_id(&subject);
    }
    subject_settle(&subject); /* all free, or exhausted */
    must_be_no_id(&subject);
    subject_fill(&subject, ids, 15);
    must_be_no_id(&subject);
    through_other_states(&subject, ids[0]);
}

TEST_ON_EACH_KIND(nil, is_no_id_in_an_empty_full_freed_exhausted_cleared_or_loaded_table)
{
    for (int i = 0; i < LAYOUTS; i++) {
        if (kind_has_layout(*kind, layouts[i])) {
            through_all_states(*kind, layouts[i], 1);
            through_all_states(*kind, layouts[i], haft_field_max(layouts[i].generation_bits));
        }
    }
}

/* A table whose last slot gets the id of all ones, and no index after it. */
static void expect_ordinary_highest(int kind, haft_layout layout)
{
    const haft_table_options options = {
        .capacity = haft_field_max(layout.index_bits) + 1 - HAFT_FIRST_INDEX,
        .object_size = 8,
        .layout = layout,
        .tag = haft_field_max(layout.tag_bits),
        .first_generation = haft_field_max(layout.generation_bits),
    };
    const unsigned width = (unsigned)layout.index_bits + layout.generation_bits + layout.tag_bits;
    const haft_id top = {haft_field_max(width)};
    AT_END(subject_close) struct subject subject = subject_open(kind, &options);
    const uint64_t value = 4711;
    haft_id id = HAFT_NIL;

    must(!subject_is_live(&subject, top));
    for (uint64_t i = 0; i < options.capacity; i++) {
        must(subject_insert(&subject, &value, &id) == HAFT_OK);
        must(haft_id_index(layout, id) >= HAFT_FIRST_INDEX);
        must(haft_id_generation(layout, id) == options.first_generation);
        must(haft_id_tag(layout, id) == options.tag);
    }
    id.bits = 0x5a;
    must(subject_insert(&subject, &value, &id) == HAFT_FULL && id.bits == 0x5a);
    cr_expect(subject_is_live(&subject, top));
    cr_expect(eq(u64, *(uint64_t *)subject_find(&subject, top), 4711));
    expect_status(subject_diagnose(&subject, top), HAFT_OK);
    expect_status(subject_free(&subject, top), HAFT_OK);
    cr_expect(ne(int, subject_free(&subject, top), HAFT_OK));
    cr_expect(not(subject_is_live(&subject, top)));
    must_be_no_id(&subject);
}

TEST_ON_EACH_KIND(nil, and_its_opposite_the_highest_index_generation_and_tag_are_an_ordinary_id)
{
    for (int i = 0; i < LAYOUTS; i++) {
        if (layouts[i].index_bits <= 20 && kind_has_layout(*kind, layouts[i])) {
            expect_ordinary_highest(*kind, layouts[i]);
        }
    }
    expect_ordinary_highest(*kind, HAFT_LAYOUT_OF(3, 5, 56));
    expect_ordinary_highest(*kind, HAFT_LAYOUT_OF(10, 30, 24));
}

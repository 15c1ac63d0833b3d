/* Ids that no table gave, or another one: every entry point of both kinds of table. */
#include "tests/support.h"

TestSuite(forged, .timeout = SUITE_SECONDS);
TestSuite(foreign, .timeout = SUITE_SECONDS);

#define OBJECTS 500
#define RANDOM_VALUES 10000000

/* Refused everywhere; says what free says. */
static haft_status expect_refused(struct subject *subject, haft_id id)
{
    const haft_status said = subject_diagnose(subject, id);
    void *object = subject;

    must(haft_resolve(subject->view, id) == NULL);
    must(!haft_is_live(subject->view, id));
    must(haft_resolve_many(subject->view, &id, &object, 1) == 0 && object == NULL);
    must(said != HAFT_OK);
    must(subject_free(subject, id) == said);
    return said;
}

/* A table with live, freed and reserved slots. */
static struct subject open_mixed(int kind, haft_layout layout, haft_id *live)
{
    const haft_table_options options = {
        .capacity = 2 * OBJECTS, .object_size = 8, .layout = layout};
    struct subject subject = subject_open(kind, &options);
    haft_id id;

    for (int i = 0; i < OBJECTS; i++) {
        must(subject_insert(&subject, NULL, &live[i]) == HAFT_OK);
        must(subject_insert(&subject, NULL, &id) == HAFT_OK);
        must(i % 3 == 0 || subject_free(&subject, id) == HAFT_OK);
        must(i % 3 != 0 || subject_free(&subject, live[i]) == HAFT_OK);
        live[i] = i % 3 == 0 ? id : live[i];
    }
    return subject;
}

static void expect_all_live(struct subject *subject, const haft_id *live)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_is_live(subject->view, live[i]));
    }
    must(subject_live(subject) == OBJECTS);
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

TEST_ON_EACH_TABLE(forged, ten_million_random_values_find_nothing)
{
    static const haft_layout each[] = {{32, 32, 0}, {16, 16, 0}, {12, 12, 8}};
    haft_id live[OBJECTS];
    uint64_t seed = 11;

    for (int i = 0; i < 3; i++) {
        const haft_layout layout = each[i];
        const unsigned width =
            (unsigned)layout.index_bits + layout.generation_bits + layout.tag_bits;
        struct subject subject = open_mixed(*kind, layout, live);

        for (int n = 0; n <= RANDOM_VALUES / 3; n++) {
            const uint64_t bits = random_next(&seed);
            const haft_id id = {n % 2 == 0 ? bits : bits & haft_field_max(width)};

            must(!haft_is_live(subject.view, id) || is_among(live, id));
            if (!haft_is_live(subject.view, id)) {
                expect_refused(&subject, id);
            }
        }
        expect_all_live(&subject, live);
        subject_close(&subject);
    }
}

TEST_ON_EACH_TABLE(forged, every_neighbour_of_a_live_id_by_one_or_two_bits_is_refused)
{
    haft_id live[OBJECTS];
    struct subject subject = open_mixed(*kind, HAFT_LAYOUT_20_12, live);

    for (int i = 0; i < OBJECTS; i++) {
        for (unsigned a = 0; a < 64; a++) {
            for (unsigned b = 0; b < 64; b++) {
                const haft_id id = {live[i].bits ^ (UINT64_C(1) << a | UINT64_C(1) << b)};

                if (is_among(live, id)) {
                    must(haft_is_live(subject.view, id));
                } else {
                    expect_refused(&subject, id);
                }
            }
        }
    }
    expect_all_live(&subject, live);
    subject_close(&subject);
}

TEST_ON_EACH_TABLE(forged, each_mark_with_each_generation_matches_nothing)
{
    const haft_table_options options = {.capacity = 1, .layout = HAFT_LAYOUT_16_16};
    struct subject subject = subject_open(*kind, &options);
    haft_id id;

    assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    for (int state = 0; state < 2; state++) {
        for (uint64_t mark = 0; mark < HAFT_FIRST_INDEX; mark++) {
            for (uint64_t generation = 0; generation < 65536; generation++) {
                const haft_id forged = {mark | generation << 16};
                const haft_status said = expect_refused(&subject, forged);

                must(said == (forged.bits == 0 ? HAFT_NO_ID : HAFT_MALFORMED));
            }
        }
        must(state == 1 || subject_free(&subject, id) == HAFT_OK);
        subject_settle(&subject);
    }
    subject_close(&subject);
}

TEST_ON_EACH_TABLE(forged, indices_beyond_the_table_with_each_state_of_the_slot_they_alias)
{
    const haft_table_options options = {.capacity = 4, .layout = HAFT_LAYOUT_16_16};
    struct subject subject = subject_open(*kind, &options);
    haft_id ids[16];

    subject_fill(&subject, ids, 16);
    for (int state = 0; state < 3; state++) {
        for (uint64_t index = subject.view.mask + 1; index < 65536; index++) {
            for (uint64_t generation = 0; generation < 4; generation++) {
                const haft_id forged = {index | generation << 16};

                must(expect_refused(&subject, forged) == HAFT_NEVER_ISSUED);
            }
        }
        if (state == 0) {
            must(subject_free(&subject, ids[1]) == HAFT_OK);
            subject_settle(&subject);
        } else {
            must(subject_reserve(&subject, &ids[state], NULL) == HAFT_OK || state == 2);
        }
    }
    subject_close(&subject);
}

/* --- from another table --- */

TEST_ON_EACH_TABLE(foreign, an_id_of_a_larger_table_is_refused_by_a_smaller_one)
{
    const haft_table_options large_options = {.capacity = 100000};
    const haft_table_options small_options = {.capacity = 10};
    struct subject large = subject_open(LOCAL, &large_options);
    struct subject small = subject_open(*kind, &small_options);
    haft_id id = HAFT_NIL;

    for (int i = 0; i < 100000; i++) {
        must(subject_insert(&large, NULL, &id) == HAFT_OK);
        must(expect_refused(&small, id) == HAFT_NEVER_ISSUED);
    }
    subject_close(&small);
    subject_close(&large);
}

TEST_ON_EACH_TABLE(foreign, a_tag_tells_tables_apart_at_equal_index_and_generation)
{
    haft_table_options options = {.capacity = 10, .layout = HAFT_LAYOUT_32_24_8, .tag = 1};
    struct subject a = subject_open(LOCAL, &options);
    haft_id of_a;
    haft_id of_b;

    options.tag = 2;
    struct subject b = subject_open(*kind, &options);

    for (int i = 0; i < 10; i++) {
        assert_status(subject_insert(&a, NULL, &of_a), HAFT_OK);
        assert_status(subject_insert(&b, NULL, &of_b), HAFT_OK);
        cr_assert(eq(u64, of_a.bits & UINT64_MAX >> 8, of_b.bits & UINT64_MAX >> 8));
        cr_expect(eq(int, expect_refused(&b, of_a), HAFT_FOREIGN));
        cr_expect(eq(int, expect_refused(&a, of_b), HAFT_FOREIGN));
        cr_expect(haft_is_live(a.view, of_a));
        cr_expect(haft_is_live(b.view, of_b));
    }
    subject_close(&a);
    subject_close(&b);
}

TEST_ON_EACH_TABLE(foreign, different_first_generations_tell_tables_apart)
{
    haft_table_options options = {.capacity = 10, .first_generation = 1000};
    struct subject a = subject_open(LOCAL, &options);
    haft_id of_a;
    haft_id of_b;

    options.first_generation = 2000;
    struct subject b = subject_open(*kind, &options);

    for (int i = 0; i < 10; i++) {
        assert_status(subject_insert(&a, NULL, &of_a), HAFT_OK);
        assert_status(subject_insert(&b, NULL, &of_b), HAFT_OK);
        cr_expect(eq(int, expect_refused(&b, of_a), HAFT_NEVER_ISSUED));
        cr_expect(eq(int, expect_refused(&a, of_b), HAFT_NEVER_ISSUED));
    }
    subject_close(&a);
    subject_close(&b);
}

TEST_ON_EACH_TABLE(foreign, small_integers_are_never_ids_of_a_default_table)
{
    const haft_table_options options = {.capacity = 1000};
    struct subject subject = subject_open(*kind, &options);
    haft_id ids[1000];

    cr_assert(eq(u64, subject_fill(&subject, ids, 1000), 1000));
    for (uint64_t bits = 0; bits < UINT64_C(1) << 20; bits++) {
        must(!haft_is_live(subject.view, (haft_id){bits}));
    }
    subject_close(&subject);
}

/* Nil names nothing, in every state of a table; the highest id is an ordinary one. */
#include "tests/support.h"

TestSuite(nil, .timeout = SUITE_SECONDS);
TestSuite(highest, .timeout = SUITE_SECONDS);

static void expect_nil_is_nothing(struct subject *subject)
{
    void *object = subject;

    cr_expect(eq(ptr, haft_resolve(subject->view, HAFT_NIL), NULL));
    cr_expect(not(haft_is_live(subject->view, HAFT_NIL)));
    cr_expect(eq(sz, haft_resolve_many(subject->view, &HAFT_NIL, &object, 1), 0));
    cr_expect(eq(ptr, object, NULL));
    expect_status(subject_diagnose(subject, HAFT_NIL), HAFT_NO_ID);
    expect_status(subject_free(subject, HAFT_NIL), HAFT_NO_ID);
}

static void through_all_states(int kind, haft_layout layout, uint64_t first)
{
    const haft_table_options options = {.capacity = 4, .layout = layout, .first_generation = first};
    struct subject subject = subject_open(kind, &options);
    haft_id ids[16];

    expect_nil_is_nothing(&subject); /* empty */
    assert_status(subject_reserve(&subject, &ids[0], NULL), HAFT_OK);
    expect_nil_is_nothing(&subject);
    subject_abort(&subject, ids[0]);
    const uint64_t count = subject_fill(&subject, ids, 16);

    expect_nil_is_nothing(&subject); /* full */
    for (uint64_t i = 0; i < count; i++) {
        assert_status(subject_free(&subject, ids[i]), HAFT_OK);
        expect_nil_is_nothing(&subject);
    }
    subject_settle(&subject); /* all free, or exhausted */
    expect_nil_is_nothing(&subject);
    subject_fill(&subject, ids, 16);
    expect_nil_is_nothing(&subject);
    if (kind == LOCAL) {
        haft_local_clear(subject.local);
        expect_nil_is_nothing(&subject);
    }
    subject_close(&subject);
}

TEST_ON_EACH_TABLE(nil, never_resolves_in_an_empty_full_freed_exhausted_or_cleared_table)
{
    for (int i = 0; i < LAYOUTS; i++) {
        through_all_states(*kind, layouts[i], 1);
        through_all_states(*kind, layouts[i], haft_field_max(layouts[i].generation_bits));
    }
}

/* A table whose last slot gets the id of all ones. */
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
    struct subject subject = subject_open(kind, &options);
    const uint64_t value = 4711;
    haft_id id = HAFT_NIL;

    must(!haft_is_live(subject.view, top));
    for (uint64_t i = 0; i < options.capacity; i++) {
        must(subject_insert(&subject, &value, &id) == HAFT_OK);
    }
    cr_expect(haft_is_live(subject.view, top));
    cr_expect(eq(u64, *(uint64_t *)haft_resolve(subject.view, top), 4711));
    expect_status(subject_diagnose(&subject, top), HAFT_OK);
    expect_status(subject_free(&subject, top), HAFT_OK);
    cr_expect(not(haft_is_live(subject.view, top)));
    cr_expect(ne(int, subject_free(&subject, top), HAFT_OK));
    expect_nil_is_nothing(&subject);
    subject_close(&subject);
}

TEST_ON_EACH_TABLE(highest, index_generation_and_tag_together_are_an_ordinary_id)
{
    expect_ordinary_highest(*kind, HAFT_LAYOUT_OF(3, 1, 0));
    expect_ordinary_highest(*kind, HAFT_LAYOUT_OF(3, 1, 60));
    expect_ordinary_highest(*kind, HAFT_LAYOUT_OF(3, 60, 1));
    expect_ordinary_highest(*kind, HAFT_LAYOUT_OF(4, 4, 0));
    expect_ordinary_highest(*kind, HAFT_LAYOUT_OF(10, 30, 24));
    expect_ordinary_highest(*kind, HAFT_LAYOUT_16_16);
    expect_ordinary_highest(*kind, HAFT_LAYOUT_20_12);
}

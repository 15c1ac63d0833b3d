/* Why an id does not resolve, in every kind of table. */
#include "tests/support.h"
#include <string.h>

TestSuite(diagnose, .timeout = SUITE_SECONDS);

static const haft_layout layout = {16, 16, 8, 0};
static const haft_table_options options = {
    .capacity = 100, .layout = {16, 16, 8, 0}, .tag = 9, .first_generation = 5};

static haft_id id_of(uint64_t index, uint64_t generation, uint64_t tag)
{
    return haft_id_pack(layout, index, generation, tag);
}

TEST_ON_EACH_KIND(diagnose, another_tag_is_foreign)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id id;

    assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    for (uint64_t tag = 0; tag < 256; tag++) {
        const haft_id other = id_of(haft_id_index(layout, id), 5, tag);

        if (tag == 9) {
            expect_status(subject_diagnose(&subject, other), HAFT_OK);
        } else {
            expect_status(subject_diagnose(&subject, other), HAFT_FOREIGN);
        }
    }
}

TEST_ON_EACH_KIND(diagnose, what_the_table_has_not_issued_is_never_issued)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id id;

    expect_status(subject_diagnose(&subject, id_of(4, 5, 9)), HAFT_NEVER_ISSUED);
    assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    const uint64_t index = haft_id_index(layout, id);

    expect_status(subject_diagnose(&subject, id_of(index, 0, 9)), HAFT_NEVER_ISSUED);
    expect_status(subject_diagnose(&subject, id_of(index, 4, 9)), HAFT_NEVER_ISSUED);
    expect_status(subject_diagnose(&subject, id_of(index, 6, 9)), HAFT_NEVER_ISSUED);
    expect_status(subject_diagnose(&subject, id_of(index, 65535, 9)), HAFT_NEVER_ISSUED);
    expect_status(subject_diagnose(&subject, id_of(65535, 5, 9)), HAFT_NEVER_ISSUED);
    expect_status(subject_diagnose(&subject, id_of(index + 1, 5, 9)), HAFT_NEVER_ISSUED);
    assert_status(subject_free(&subject, id), HAFT_OK);
    expect_status(subject_diagnose(&subject, id_of(index, 4, 9)), HAFT_NEVER_ISSUED);
    expect_status(subject_diagnose(&subject, id_of(index, 6, 9)), HAFT_NEVER_ISSUED);
}

TEST_ON_EACH_RESERVING(diagnose, reserved_then_ok_then_stale)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id id;

    assert_status(subject_reserve(&subject, &id, NULL), HAFT_OK);
    expect_status(subject_diagnose(&subject, id), HAFT_RESERVED);
    subject_publish(&subject, id);
    expect_status(subject_diagnose(&subject, id), HAFT_OK);
    assert_status(subject_free(&subject, id), HAFT_OK);
    expect_status(subject_diagnose(&subject, id), HAFT_STALE);
    subject_settle(&subject);
    expect_status(subject_diagnose(&subject, id), HAFT_STALE);
}

TEST_ON_EACH_RESERVING(diagnose, an_id_whose_slot_is_reserved_again_is_stale)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[300];
    const uint64_t count = subject_fill(&subject, ids, 300);
    haft_id again;

    subject_free_each(&subject, ids, (int)count);
    subject_settle(&subject);
    assert_status(subject_reserve(&subject, &again, NULL), HAFT_OK);
    const uint64_t index = haft_id_index(layout, again);

    cr_assert(eq(u64, haft_id_generation(layout, again), 6));
    expect_status(subject_diagnose(&subject, again), HAFT_RESERVED);
    expect_status(subject_diagnose(&subject, id_of(index, 5, 9)), HAFT_STALE);
    expect_status(subject_diagnose(&subject, id_of(index, 7, 9)), HAFT_NEVER_ISSUED);
    expect_status(subject_diagnose(&subject, id_of(index, 4, 9)), HAFT_NEVER_ISSUED);
    subject_abort(&subject, again);
    expect_status(subject_diagnose(&subject, again), HAFT_STALE);
}

TEST_ON_EACH_KIND(diagnose, every_life_of_an_exhausted_slot_is_exhausted)
{
    haft_table_options last = options;
    haft_id id;

    last.capacity = 1;
    last.layout = HAFT_LAYOUT_OF(3, 2, 8);
    last.first_generation = 2;
    AT_END(subject_close) struct subject subject = subject_open(*kind, &last);
    haft_id ids[8];
    const uint64_t count = subject_fill(&subject, ids, 8);

    for (int life = 0; life < 2; life++) {
        for (uint64_t i = 0; i < count; i++) {
            id = haft_id_pack(last.layout, haft_id_index(last.layout, ids[i]), 2 + (uint64_t)life,
                              9);
            assert_status(subject_free(&subject, id), HAFT_OK);
        }
        subject_settle(&subject);
        cr_expect(eq(u64, subject_fill(&subject, ids, 8), life == 0 ? count : 0));
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t index = haft_id_index(last.layout, ids[i]);

        expect_status(subject_diagnose(&subject, haft_id_pack(last.layout, index, 1, 9)),
                      HAFT_NEVER_ISSUED);
        expect_status(subject_diagnose(&subject, haft_id_pack(last.layout, index, 2, 9)),
                      HAFT_EXHAUSTED);
        expect_status(subject_diagnose(&subject, haft_id_pack(last.layout, index, 3, 9)),
                      HAFT_EXHAUSTED);
    }
}

TEST_ON_EACH_RESERVING(diagnose, free_says_the_same_of_every_id_that_is_not_live)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[40];

    for (int i = 0; i < 40; i++) {
        assert_status(subject_reserve(&subject, &ids[i], NULL), HAFT_OK);
    }
    for (int i = 0; i < 30; i++) {
        subject_publish(&subject, ids[i]);
    }
    subject_free_each(&subject, ids, 20);
    for (uint64_t index = 0; index < 300; index++) {
        for (uint64_t generation = 0; generation < 8; generation++) {
            for (uint64_t tag = 8; tag < 10; tag++) {
                const haft_id id = id_of(index, generation, tag);
                const haft_status said = subject_diagnose(&subject, id);

                must((said == HAFT_OK) == subject_is_live(&subject, id));
                must(said == HAFT_OK || subject_free(&subject, id) == said);
            }
        }
    }
    cr_expect(eq(u64, subject_live(&subject), 10));
    for (int i = 30; i < 40; i++) {
        subject_abort(&subject, ids[i]);
    }
}

TEST_ON_EACH_KIND(diagnose, in_words_is_one_line_with_the_name_and_the_status)
{
    haft_table_options named = options;
    char line[200];
    haft_id id;

    named.name = "sessions";
    AT_END(subject_close) struct subject subject = subject_open(*kind, &named);

    assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    assert_status(subject_free(&subject, id), HAFT_OK);
    const int length = subject_describe(&subject, id, line, sizeof line);

    cr_expect(eq(int, length, (int)strlen(line)));
    cr_expect(eq(int, strncmp(line, "sessions: ", 10), 0), "%s", line);
    cr_expect(not(zero(ptr, strstr(line, "(HAFT_STALE)"))), "%s", line);
    cr_expect(zero(ptr, strchr(line, '\n')));
    cr_expect(eq(int, subject_describe(&subject, id, NULL, 0), length));
}

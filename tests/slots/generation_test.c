/* The last generation of a slot, in every kind of table. */
#include "tests/support.h"
#include <haft/kit/restore.h>

TestSuite(generation, .timeout = SUITE_SECONDS);

#define CAPACITY 20
#define LIMIT 64

/* Every slot has `lives` lives. */
static struct subject open_with_lives(int kind, haft_layout layout, uint64_t lives)
{
    const haft_table_options options = {
        .capacity = CAPACITY,
        .layout = layout,
        .tag = haft_field_max(layout.tag_bits),
        .first_generation = haft_field_max(layout.generation_bits) + 1 - lives,
    };
    return subject_open(kind, &options);
}

static void expect_gone_for_ever(struct subject *subject, const haft_id *old, int count)
{
    for (int i = 0; i < count; i++) {
        const haft_status said = subject_diagnose(subject, old[i]);

        must(!subject_is_live(subject, old[i]));
        must(subject_find(subject, old[i]) == NULL);
        must(said == HAFT_EXHAUSTED || said == HAFT_STALE);
        must(subject_free(subject, old[i]) == said);
        must(subject->local == NULL || said == HAFT_STALE ||
             haft_local_restore(subject->local, old[i], NULL) == HAFT_EXHAUSTED);
    }
}

/* One slot after the other from the first to the last lives its last life and is exhausted. */
static void exhaust_all(int kind, haft_layout layout)
{
    if (!kind_has_layout(kind, layout)) {
        return;
    }
    AT_END(subject_close) struct subject subject = open_with_lives(kind, layout, 1);
    haft_id ids[LIMIT];
    const int count = (int)subject_fill(&subject, ids, LIMIT);

    must(count >= CAPACITY);
    for (int i = 0; i < count; i++) {
        haft_id id = {0x5a};

        must(haft_id_generation(layout, ids[i]) == haft_field_max(layout.generation_bits));
        must(subject_is_live(&subject, ids[i]));
        must(subject_free(&subject, ids[i]) == HAFT_OK);
        expect_gone_for_ever(&subject, ids, i + 1);
        subject_settle(&subject);
        must(subject_insert(&subject, NULL, &id) != HAFT_OK); /* no slot has come back */
        must(id.bits == 0x5a);
        expect_gone_for_ever(&subject, ids, i + 1);
        must(subject_live(&subject) == (uint64_t)(count - i - 1));
    }
    for (int i = 0; i < count; i++) {
        must(subject_diagnose(&subject, ids[i]) == HAFT_EXHAUSTED);
    }
}

TEST_ON_EACH_KIND(generation, each_slot_first_to_last_is_exhausted_after_its_last_life)
{
    exhaust_all(*kind, HAFT_LAYOUT_32_32);
    exhaust_all(*kind, HAFT_LAYOUT_32_24_8);
    exhaust_all(*kind, HAFT_LAYOUT_20_12);
    exhaust_all(*kind, HAFT_LAYOUT_16_16);
    exhaust_all(*kind, HAFT_LAYOUT_OF(8, 1, 55));
    exhaust_all(*kind, HAFT_LAYOUT_OF(5, 59, 0));
}

/* The first, a middle and the last slot are exhausted; the others live on. */
static void exhaust_at(int kind, int place)
{
    AT_END(subject_close) struct subject subject = open_with_lives(kind, HAFT_LAYOUT_32_24_8, 2);
    haft_id ids[LIMIT];
    const int count = (int)subject_fill(&subject, ids, LIMIT);
    const int at = place == 0 ? 0 : place == 1 ? count / 2 : count - 1;
    const haft_id first_life = ids[at];
    haft_id id;

    must(subject_free(&subject, first_life) == HAFT_OK);
    subject_settle(&subject);
    must(subject_insert(&subject, NULL, &id) == HAFT_OK);
    must(haft_id_index(HAFT_LAYOUT_32_24_8, id) == haft_id_index(HAFT_LAYOUT_32_24_8, first_life));
    must(haft_id_generation(HAFT_LAYOUT_32_24_8, id) == 0xffffff);
    must(haft_id_tag(HAFT_LAYOUT_32_24_8, id) == 0xff);
    must(subject_free(&subject, id) == HAFT_OK);
    subject_settle(&subject);
    must(subject_insert(&subject, NULL, &id) != HAFT_OK);
    must(subject_diagnose(&subject, first_life) == HAFT_EXHAUSTED);
    for (int i = 0; i < count; i++) { /* the rest of the table works */
        must(i == at || subject_free(&subject, ids[i]) == HAFT_OK);
    }
    subject_settle(&subject);
    must(subject_fill(&subject, ids, LIMIT) == (uint64_t)count - 1);
}

TEST_ON_EACH_KIND(generation, the_table_works_on_without_an_exhausted_slot)
{
    exhaust_at(*kind, 0);
    exhaust_at(*kind, 1);
    exhaust_at(*kind, 2);
}

TEST_ON_EACH_RESERVING(generation, giving_up_the_last_life_exhausts_the_slot)
{
    AT_END(subject_close) struct subject subject = open_with_lives(*kind, HAFT_LAYOUT_16_16, 1);
    haft_id ids[LIMIT];
    haft_id id;

    assert_status(subject_reserve(&subject, &id, NULL), HAFT_OK);
    subject_abort(&subject, id);
    subject_settle(&subject);
    expect_status(subject_diagnose(&subject, id), HAFT_EXHAUSTED);
    expect_status(subject_free(&subject, id), HAFT_EXHAUSTED);
    const uint64_t count = subject_fill(&subject, ids, LIMIT);

    cr_expect(ge(u64, count, CAPACITY - 1));
    for (uint64_t i = 0; i < count; i++) {
        cr_expect(ne(u64, ids[i].bits, id.bits));
        cr_expect(ne(u32, haft_id_index(HAFT_LAYOUT_16_16, ids[i]),
                     haft_id_index(HAFT_LAYOUT_16_16, id)));
    }
}

TEST_ON_EACH_KIND(generation, an_exhausted_table_is_full)
{
    const haft_table_options options = {.capacity = 4, .layout = HAFT_LAYOUT_OF(3, 1, 0)};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[4];

    cr_assert(eq(u64, subject_fill(&subject, ids, 4), 4));
    subject_free_each(&subject, ids, 4);
    subject_settle(&subject);
    expect_status(subject_insert(&subject, NULL, &ids[0]), HAFT_FULL);
    expect_status(subject_insert(&subject, NULL, &ids[0]), HAFT_FULL);
    if (*kind == SHARED) {
        expect_status(haft_insert_wait(subject.shared.worker, NULL, &ids[0]), HAFT_FULL);
    }
    cr_expect(eq(u64,
                 subject.packed != NULL ? 4 - haft_packed_available(subject.packed)
                                        : subject_exhausted(&subject),
                 4));
    cr_expect(eq(u64, subject_live(&subject), 0));
}

TEST_ON_EACH_KIND(generation, every_life_from_the_first_to_the_last_is_lived_in_order)
{
    const haft_layout layout = HAFT_LAYOUT_OF(16, 10, 0);
    AT_END(subject_close) struct subject subject = open_with_lives(*kind, layout, 1000);
    static uint64_t lived[1 << 16];
    haft_id id;

    for (int i = 0; i < CAPACITY * 1000; i++) {
        must(subject_insert(&subject, NULL, &id) == HAFT_OK);
        uint64_t *last = &lived[haft_id_index(layout, id)];

        must(haft_id_generation(layout, id) == (*last == 0 ? 24 : *last + 1));
        *last = haft_id_generation(layout, id);
        must(subject_free(&subject, id) == HAFT_OK);
        subject_settle(&subject);
    }
}

/* All slots live each of their lives together. */
static void expect_wrapping(int kind, haft_layout layout, uint64_t first)
{
    const uint64_t last = haft_field_max(layout.generation_bits);
    const uint64_t tag = haft_field_max(layout.tag_bits);
    const haft_table_options options = {
        .capacity = 1, .layout = layout, .tag = tag, .first_generation = first, .wrap = true};
    AT_END(subject_close) struct subject subject = subject_open(kind, &options);
    haft_id ids[LIMIT];
    const int count = (int)subject_fill(&subject, ids, LIMIT);

    for (int lives = 0; lives < 100; lives++) {
        const haft_id old = ids[0];

        for (int i = 0; i < count; i++) {
            must(haft_id_generation(layout, ids[i]) == first);
            must(haft_id_tag(layout, ids[i]) == tag);
        }
        subject_free_each(&subject, ids, count);
        must(subject_free(&subject, old) == HAFT_STALE && !subject_is_live(&subject, old));
        subject_settle(&subject);
        subject_insert_each(&subject, ids, count);
        first = first == last ? 1 : first + 1;
    }
    cr_expect(zero(u64, subject_exhausted(&subject)));
}

TEST_ON_EACH_RESERVING(generation, with_wrap_a_slot_goes_on_at_1_whatever_the_first_was)
{
    expect_wrapping(*kind, HAFT_LAYOUT_OF(10, 1, 0), 1);
    expect_wrapping(*kind, HAFT_LAYOUT_OF(10, 4, 2), 14);
    expect_wrapping(*kind, HAFT_LAYOUT_OF(10, 5, 0), 1);
    expect_wrapping(*kind, HAFT_LAYOUT_32_32, UINT32_MAX - 1);
    expect_wrapping(*kind, HAFT_LAYOUT_OF(10, 22, 32), (1 << 22) - 3);
}

/* --- the first life --- */

static void ids_of_a_new_table(int kind, haft_id ids[LIMIT])
{
    const haft_table_options options = {.capacity = LIMIT, .object_size = 8};
    AT_END(subject_close) struct subject subject = subject_open(kind, &options);

    for (int i = 0; i < LIMIT; i++) {
        must(subject_insert(&subject, NULL, &ids[i]) == HAFT_OK);
        if (i % 3 == 0) {
            must(subject_free(&subject, ids[i]) == HAFT_OK);
            subject_settle(&subject);
        }
    }
}

/* Replays and peers rely on it: each exchanges ids with tables opened in another order. */
TEST_ON_EACH_KIND(generation, tables_opened_and_used_alike_issue_the_same_ids)
{
    haft_id ids[LIMIT];
    haft_id others[LIMIT];

    ids_of_a_new_table(*kind, ids);
    ids_of_a_new_table(*kind, others);
    for (int i = 0; i < LIMIT; i++) {
        cr_expect(eq(u64, ids[i].bits, others[i].bits));
    }
    cr_expect(eq(u64, haft_id_generation(HAFT_LAYOUT_32_32, ids[0]), 1));
}

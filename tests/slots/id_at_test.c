/* The id of a slot by its index, in every kind of table. */
#include "tests/support.h"
#include <haft/memory.h>

TestSuite(id_at, .timeout = SUITE_SECONDS);

static const haft_layout layout = {16, 16, 8, 0};
static const haft_table_options options = {
    .capacity = 100, .object_size = 8, .layout = {16, 16, 8, 0}, .tag = 9, .first_generation = 5};

static haft_id id_of(uint64_t index, uint64_t generation)
{
    return haft_id_pack(layout, index, generation, 9);
}

#define expect_id_at(subject, index, status, expected)                                             \
    do {                                                                                           \
        haft_id found = {0x5a5a};                                                                  \
        expect_status(subject_id_at(subject, index, &found), status);                              \
        cr_expect(eq(u64, found.bits, (expected).bits));                                           \
    } while (0)

TEST_ON_EACH_KIND(id_at, a_live_object_is_found_under_its_id)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[10];

    subject_insert_each(&subject, ids, 10);
    for (int i = 0; i < 10; i++) {
        expect_id_at(&subject, haft_id_index(layout, ids[i]), HAFT_OK, ids[i]);
    }
}

TEST_ON_EACH_RESERVING(id_at, a_reservation_has_its_id)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id id;

    assert_status(subject_reserve(&subject, &id, NULL), HAFT_OK);
    expect_id_at(&subject, haft_id_index(layout, id), HAFT_RESERVED, id);
    subject_abort(&subject, id);
    expect_id_at(&subject, haft_id_index(layout, id), HAFT_STALE,
                 id_of(haft_id_index(layout, id), 6));
}

/* Of an object's slot, after the free and once the slot is free; generation 0: there is no id. */
static void expect_after_free(int kind, const haft_table_options *of, haft_status wanted,
                              uint64_t generation)
{
    AT_END(subject_close) struct subject subject = subject_open(kind, of);
    haft_id id;

    assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    const uint64_t index = haft_id_index(layout, id);
    const haft_id next = generation != 0 ? id_of(index, generation) : HAFT_NIL;

    assert_status(subject_free(&subject, id), HAFT_OK);
    for (int settled = 0; settled < 2; settled++) {
        haft_id found = {0x5a5a};

        cr_expect(eq(int, (int)subject_id_at(&subject, index, &found), (int)wanted));
        cr_expect(eq(u64, found.bits, next.bits));
        subject_settle(&subject);
    }
}

TEST_ON_EACH_KIND(id_at, a_freed_slot_has_its_next_life_s_id_before_and_after_it_is_free)
{
    expect_after_free(*kind, &options, HAFT_STALE, 6);
}

TEST_ON_EACH_KIND(id_at, a_fresh_slot_has_the_first_generation)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);

    for (uint64_t index = HAFT_FIRST_INDEX; index < HAFT_FIRST_INDEX + 100; index++) {
        expect_id_at(&subject, index, HAFT_NEVER_ISSUED, id_of(index, 5));
    }
}

TEST_ON_EACH_KIND(id_at, marks_and_what_is_beyond_are_out_of_range)
{
    const haft_id untouched = {0x5a5a};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);

    for (uint64_t index = 0; index < HAFT_FIRST_INDEX; index++) {
        expect_id_at(&subject, index, HAFT_OUT_OF_RANGE, untouched);
    }
    if (*kind != SHARED) { /* which has slots beyond its capacity for workers to hold back */
        expect_id_at(&subject, HAFT_FIRST_INDEX + 100, HAFT_OUT_OF_RANGE, untouched);
    }
    expect_id_at(&subject, 65536, HAFT_OUT_OF_RANGE, untouched);
    expect_id_at(&subject, UINT64_MAX, HAFT_OUT_OF_RANGE, untouched);
}

TEST_ON_EACH_KIND(id_at, an_exhausted_slot_has_none)
{
    haft_table_options last = options;

    last.first_generation = 65535;
    expect_after_free(*kind, &last, HAFT_EXHAUSTED, 0);
}

TEST_ON_EACH_RESERVING(id_at, with_wrap_the_last_life_is_followed_by_generation_1)
{
    haft_table_options last = options;

    last.first_generation = 65535;
    last.wrap = true;
    expect_after_free(*kind, &last, HAFT_STALE, 1);
}

/* Whatever id the table is to issue next for a slot: it is the one that was foretold. */
TEST_ON_EACH_KIND(id_at, what_is_issued_was_foretold)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id foretold[300];
    haft_id id;
    uint64_t state = 1;

    for (int turn = 0; turn < 2000; turn++) {
        for (uint64_t index = 0; index < 300; index++) {
            subject_id_at(&subject, index, &foretold[index]);
        }
        if (subject_insert(&subject, NULL, &id) == HAFT_OK && haft_id_index(layout, id) < 300) {
            must(haft_id_equal(id, foretold[haft_id_index(layout, id)]));
        }
        for (uint64_t index = random_next(&state) % 2 != 0 ? 300 : 0; index-- > 0;) {
            if (subject_id_at(&subject, index, &id) == HAFT_OK && random_next(&state) % 3 == 0) {
                must(subject_free(&subject, id) == HAFT_OK);
            }
        }
        subject_settle(&subject);
    }
}

Test(id_at, slots_of_a_released_run_have_the_run_s_floor)
{
    AT_END(local_end) haft_local *local;
    haft_id ids[20000];
    haft_id id;
    uint64_t released;

    assert_status(
        haft_local_open(&(haft_local_options){.capacity = 20000, .object_size = 24}, &local),
        HAFT_OK);
    local_insert_each(local, ids, 20000);
    local_free_each(local, ids, 20000);
    assert_status(haft_local_trim(local, &released), HAFT_OK);
    cr_assert(lt(u64, 0, released));
    const uint32_t index = haft_id_index(HAFT_LAYOUT_32_32, ids[10000]);

    expect_status(haft_local_id_at(local, index, &id), HAFT_NEVER_ISSUED);
    cr_expect(eq(u64, haft_id_generation(HAFT_LAYOUT_32_32, id), 2));
    cr_expect(eq(u32, haft_id_index(HAFT_LAYOUT_32_32, id), index));
}

static void look_at_itself(void *object, haft_id id, void *arg)
{
    haft_local *const *local = arg;
    haft_id next;

    expect_status(haft_local_id_at(*local, haft_id_index(layout, id), &next), HAFT_STALE);
    cr_expect(eq(u64, next.bits, id_of(haft_id_index(layout, id), 6).bits));
}

Test(id_at, while_on_destroy_runs_it_is_the_next_life_s)
{
    AT_END(local_end) haft_local *local;
    haft_id id;
    const haft_local_options watched = {.capacity = 10,
                                        .layout = layout,
                                        .tag = 9,
                                        .first_generation = 5,
                                        .on_destroy = look_at_itself,
                                        .destroy_arg = &local};

    assert_status(haft_local_open(&watched, &local), HAFT_OK);
    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    assert_status(haft_local_free(local, id), HAFT_OK);
}

Test(id_at, dense_indices_begin_at_0)
{
    AT_END(subject_close) struct subject subject = subject_open(LOCAL, &options);
    haft_id id;

    for (uint32_t i = 0; i < 100; i++) {
        assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
        cr_expect(eq(u32, haft_id_dense_index(layout, id), i));
    }
}

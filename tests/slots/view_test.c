/* Resolving many at once. */
#include "tests/support.h"
#include <haft/view.h>
#include <string.h>

TestSuite(resolve_many, .timeout = SUITE_SECONDS);
TestSuite(view, .timeout = SUITE_SECONDS);
TestSuite(run, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 300, .object_size = 8};

static haft_view not_open = HAFT_VIEW_EMPTY;

Test(view, that_is_empty_finds_no_id_whatever_its_bits)
{
    const haft_view again = HAFT_VIEW_EMPTY;
    uint64_t seed = 7;
    void *object = &seed;
    haft_id found;
    haft_run run = haft_run_over(not_open, HAFT_EVERYTHING);

    for (uint64_t i = 0; i < 1000000; i++) {
        const uint64_t bits = i < 1000 ? i : i < 2000 ? UINT64_MAX - i : random_next(&seed);

        must(haft_resolve(not_open, (haft_id){bits}) == NULL);
        must(!haft_is_live(again, (haft_id){bits}));
    }
    must(haft_resolve_many(not_open, &HAFT_NIL, &object, 1) == 0 && object == NULL);
    must(haft_id_is_nil(haft_ref_id(haft_ref_of(not_open, (haft_id){1}))));
    must(!haft_run_next(&run, &found, &object));
}

/* What resolve_many says of `count` ids equals what resolve says of each. */
static void expect_as_single(haft_view view, const haft_id *ids, size_t count)
{
    void *objects[301];
    void *const guard = &objects;
    size_t live = 0;

    objects[count] = guard;
    const size_t found = haft_resolve_many(view, ids, objects, count);

    for (size_t i = 0; i < count; i++) {
        must(objects[i] == haft_resolve(view, ids[i]));
        live += objects[i] != NULL;
    }
    must(found == live);
    must(objects[count] == guard);
}

TEST_ON_EACH_TABLE(resolve_many, gives_what_resolve_gives_for_each_of_0_to_300_ids)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    uint64_t seed = 5;
    haft_id ids[300];

    subject_insert_each(&subject, ids, 300);
    for (int i = 0; i < 300; i++) {
        switch (random_next(&seed) % 4) {
        case 0:
            must(subject_free(&subject, ids[i]) == HAFT_OK);
            break;
        case 1:
            ids[i].bits = random_next(&seed);
            break;
        default:
            break;
        }
    }
    ids[7] = HAFT_NIL;
    for (size_t count = 0; count <= 300; count++) {
        expect_as_single(subject.view, ids, count);
    }
}

TEST_ON_EACH_TABLE(resolve_many, of_no_ids_needs_no_arrays)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);

    cr_expect(eq(sz, haft_resolve_many(subject.view, NULL, NULL, 0), 0));
}

TEST_ON_EACH_TABLE(resolve_many, the_same_id_may_stand_in_it_often)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[100];
    haft_id id;

    assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    for (int i = 0; i < 100; i++) {
        ids[i] = id;
    }
    expect_as_single(subject.view, ids, 100);
}

/* --- runs --- */

static const haft_table_options sixty = {.capacity = 60, .object_size = 16};

#define MOST 128 /* more than a table of 60 ever holds */

static haft_run run_of(const struct subject *subject)
{
    return haft_run_over(subject->view, HAFT_EVERYTHING);
}

/* The number of objects that a run gives. */
static int length_of(haft_run run)
{
    haft_id id;
    void *object;
    int count = 0;

    while (haft_run_next(&run, &id, &object)) {
        count++;
    }
    return count;
}

TEST_ON_EACH_TABLE(run, over_an_empty_table_gives_nothing)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &sixty);
    haft_run run = run_of(&subject);
    haft_id id = {0x5a5a};
    void *object = &id;

    cr_expect(not(haft_run_next(&run, &id, &object)));
    cr_expect(eq(u64, id.bits, 0x5a5a));
    cr_expect(eq(ptr, object, &id));
}

TEST_ON_EACH_TABLE(run, gives_each_live_object_and_its_id_in_order_of_index)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &sixty);
    haft_id ids[MOST];
    uint64_t last = 0;
    uint64_t count = subject_fill(&subject, ids, MOST);
    haft_run run = run_of(&subject);
    haft_id id;
    void *object;

    cr_expect(ge(u64, count, 60));
    while (haft_run_next(&run, &id, &object)) {
        cr_expect(eq(ptr, object, haft_resolve(subject.view, id)));
        cr_expect(lt(u64, last, haft_id_index(subject_layout(&subject), id)));
        last = haft_id_index(subject_layout(&subject), id);
        count--;
    }
    cr_expect(eq(u64, count, 0));
}

TEST_ON_EACH_TABLE(run, gives_what_was_written_before_publish)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &sixty);
    haft_run run = run_of(&subject);
    char text[16] = "fifteen letters";
    haft_id id;
    void *object = NULL;

    assert_status(subject_insert(&subject, text, &id), HAFT_OK);
    cr_assert(haft_run_next(&run, &id, &object));
    cr_expect(eq(str, object, (char *)"fifteen letters"));
}

TEST_ON_EACH_TABLE(run, leaves_reserved_and_freed_and_given_up_slots_out)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &sixty);
    haft_id ids[4];

    for (int i = 0; i < 4; i++) {
        assert_status(subject_reserve(&subject, &ids[i], NULL), HAFT_OK);
    }
    subject_publish(&subject, ids[0]);
    subject_publish(&subject, ids[1]);
    assert_status(subject_free(&subject, ids[1]), HAFT_OK);
    subject_abort(&subject, ids[2]);
    cr_expect(eq(int, length_of(run_of(&subject)), 1));
    subject_settle(&subject);
    cr_expect(eq(int, length_of(run_of(&subject)), 1));
    subject_abort(&subject, ids[3]);
}

TEST_ON_EACH_TABLE(run, leaves_exhausted_slots_out)
{
    const haft_table_options short_lived = {.capacity = 4, .layout = {4, 1, 0, 0}};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &short_lived);
    haft_id ids[16];

    for (uint64_t count = 1; count != 0; subject_settle(&subject)) {
        count = subject_fill(&subject, ids, 16);
        subject_free_each(&subject, ids, (int)count);
        cr_expect(eq(int, length_of(run_of(&subject)), 0));
    }
}

TEST_ON_EACH_TABLE(run, keeps_within_its_range)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &sixty);
    haft_id ids[MOST];
    const uint64_t count = subject_fill(&subject, ids, MOST);
    haft_run run = haft_run_over(subject.view, HAFT_RANGE(10, 20));
    haft_id id;
    void *object;

    for (uint64_t index = 10; index < 20; index++) {
        cr_assert(haft_run_next(&run, &id, &object));
        cr_expect(eq(u64, haft_id_index(subject_layout(&subject), id), index));
    }
    cr_expect(not(haft_run_next(&run, &id, &object)));
    cr_expect(eq(int, length_of(haft_run_over(subject.view, HAFT_RANGE(10, 10))), 0));
    cr_expect(eq(int, length_of(haft_run_over(subject.view, HAFT_RANGE(20, 10))), 0));
    cr_expect(eq(int, length_of(haft_run_over(subject.view, HAFT_RANGE(0, 5))), 1));
    cr_expect(eq(int, length_of(haft_run_over(subject.view, HAFT_RANGE(10, UINT64_MAX))),
                 (int)count - 6));
    cr_expect(eq(int, length_of(haft_run_over(subject.view, HAFT_RANGE(1 << 20, 1 << 21))), 0));
}

TEST_ON_EACH_TABLE(run, reaches_the_last_slot_of_the_memory)
{
    const haft_table_options smallest = {.capacity = 4, .layout = {3, 8, 0, 0}};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &smallest);
    haft_id ids[8];

    cr_assert(eq(u64, subject_fill(&subject, ids, 8), 4));
    cr_expect(eq(int, length_of(run_of(&subject)), 4));
    for (int i = 0; i < 4; i++) {
        must(haft_id_index(smallest.layout, ids[i]) == 7 ||
             subject_free(&subject, ids[i]) == HAFT_OK);
    }
    cr_expect(eq(int, length_of(run_of(&subject)), 1));
}

TEST_ON_EACH_TABLE(run, copied_goes_on_by_itself)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &sixty);
    haft_id ids[MOST];
    const int count = (int)subject_fill(&subject, ids, MOST);
    haft_run run = run_of(&subject);
    haft_id id;
    void *object;

    cr_assert(haft_run_next(&run, &id, &object));
    cr_expect(eq(int, length_of(run), count - 1));
    cr_expect(eq(int, length_of(run), count - 1));
}

TEST_ON_EACH_TABLE(run, gives_the_live_objects_alone_in_every_layout_and_generation)
{
    for (int l = 0; l < LAYOUTS; l++) {
        const haft_layout layout = layouts[l];
        const haft_table_options small = {.capacity = 4,
                                          .object_size = 8,
                                          .layout = layout,
                                          .tag = haft_field_max(layout.tag_bits),
                                          .first_generation =
                                              haft_field_max(layout.generation_bits)};
        AT_END(subject_close) struct subject subject = subject_open(*kind, &small);
        haft_id ids[MOST];
        const int count = (int)subject_fill(&subject, ids, MOST);

        cr_expect(eq(int, length_of(run_of(&subject)), count));
        must(subject_free(&subject, ids[count / 2]) == HAFT_OK);
        cr_expect(eq(int, length_of(run_of(&subject)), count - 1));
    }
}

/* White-box: saved files that are made up, with checksums that are right: what is wrong is told. */
#include "kit/local/snapshots/local_image.h"
#include "tests/slots/saving.h"
#include <haft/kit/restore.h>
#include <stdlib.h>

TestSuite(forged_file, .timeout = SUITE_SECONDS);

static const haft_table_options options = {
    .capacity = 300, .object_size = 24, .layout = {16, 16, 4, 0}, .tag = 5};

TEST_ON_EACH_ALONE(forged_file, free_slots_in_a_circle_are_refused)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[30];
    uint64_t last = 0;

    fill_with_holes(&subject, ids, 30); /* every third is free: 4, 7, 10 and so on */
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);

    for (uint64_t index = 4; index < 34; index += 3) {
        last = (number_at(&bytes, word_offset(index)) & 0xffff) == 0 ? index : last;
    }
    cr_assert(ne(u64, last, 0));
    expect_refused(&subject, &bytes, word_offset(last),
                   number_at(&bytes, word_offset(last)) | (last == 4 ? 7 : 4), "a slot's word");
}

TEST_ON_EACH_ALONE(forged_file, words_that_no_slot_can_have_are_refused)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[30];

    fill_with_holes(&subject, ids, 30);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const uint64_t live = ids[1].bits;

    expect_refused(&subject, &bytes, word_offset(5), live | UINT64_C(1) << 50, "a slot's word");
    expect_refused(&subject, &bytes, word_offset(5), live ^ UINT64_C(1) << 32, "a slot's word");
    expect_refused(&subject, &bytes, word_offset(5), live & ~UINT64_C(0xffff0000), "a slot's word");
    expect_refused(&subject, &bytes, word_offset(5), (live & ~UINT64_C(0xffff)) | 1,
                   "a slot's word");
    expect_refused(&subject, &bytes, word_offset(5), (live & ~UINT64_C(0xffff)) | 60,
                   "a slot's word");
}

Test(forged_file, a_packed_table_s_positions_have_each_object_once)
{
    AT_END(subject_close) struct subject subject = subject_open(DENSE, &options);
    haft_id ids[30];

    fill_with_holes(&subject, ids, 30);
    must(haft_packed_kill(subject.packed, ids[1]) == HAFT_OK);
    must(haft_packed_kill(subject.packed, ids[2]) == HAFT_OK);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const size_t positions = body_offset(30 * 8);

    for (size_t i = 1; i < 20; i++) {
        expect_refused(&subject, &bytes, positions + i * 8, number_at(&bytes, positions),
                       "an object's id");
    }
    expect_refused(&subject, &bytes, positions + 24, number_at(&bytes, positions + 16),
                   "an object's id");
    expect_refused(&subject, &bytes, positions, ids[0].bits, "an object's id");
    const size_t dead = positions + 20 * 8;

    expect_refused(&subject, &bytes, dead + 8, number_at(&bytes, dead), "a dead object's slot");
    expect_refused(&subject, &bytes, dead, 4, "a dead object's slot");
    expect_refused(&subject, &bytes, dead, 99, "a dead object's slot");
    expect_refused(&subject, &bytes, dead, 0, "a dead object's slot");
    expect_refused(&subject, &bytes, dead, 3, "a dead object's slot");
}

static void expect_wrong_number(struct subject *subject, struct bytes *bytes,
                                enum local_number place, uint64_t number, const char *what)
{
    expect_refused(subject, bytes, number_offset(place), number, what);
}

Test(forged_file, numbers_that_no_table_can_have_are_refused_by_their_name)
{
    AT_END(subject_close) struct subject subject = subject_open(LOCAL, &options);
    haft_id ids[30];

    fill_with_holes(&subject, ids, 30);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const uint64_t limit = number_at(&bytes, number_offset(LOCAL_LIMIT));

    expect_wrong_number(&subject, &bytes, LOCAL_LIMIT, 4, "number of slots that there can be");
    expect_wrong_number(&subject, &bytes, LOCAL_LIMIT, 513, "number of slots that there can be");
    expect_wrong_number(&subject, &bytes, LOCAL_CAPACITY, 0, "capacity");
    expect_wrong_number(&subject, &bytes, LOCAL_CAPACITY, limit - 3, "capacity");
    expect_wrong_number(&subject, &bytes, LOCAL_USED, 3, "number of slots");
    expect_wrong_number(&subject, &bytes, LOCAL_USED, limit + 1, "number of slots");
}

Test(forged_file, marks_that_no_table_can_have_are_refused_by_their_name)
{
    AT_END(subject_close) struct subject subject = subject_open(LOCAL, &options);
    haft_id ids[30];

    fill_with_holes(&subject, ids, 30);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);

    expect_wrong_number(&subject, &bytes, LOCAL_WRAPPED, 1, "mark of generations that began again");
    expect_wrong_number(&subject, &bytes, LOCAL_TAIL, 1, "last free slot");
}

/* With a capacity that leaves room for one. */
Test(forged_file, slots_that_stay_free_are_for_a_queue_alone)
{
    for (int is_queue = 0; is_queue < 2; is_queue++) {
        struct subject subject = subject_open(is_queue ? FIFO : LOCAL, &options);
        struct bytes bytes = saved_of(&subject);

        set_number(&bytes, number_offset(LOCAL_CAPACITY), options.capacity - 1);
        set_number(&bytes, number_offset(LOCAL_MIN_FREE), 1);
        if (is_queue) {
            haft_file file = file_of(&bytes);

            expect_status(load(&subject, &file), HAFT_OK);
        } else {
            expect_refused_for(&subject, &bytes, "min_free");
        }
        free(bytes.at);
        subject_close(&subject);
    }
}

/* --- page runs --- */

#define SLOTS 6000
#define RUN_SLOTS 128
#define KEPT 240 /* slots of the first run and the last, which no trim releases */

/* In other runs the first `used` slots have objects, and the rest is fresh. */
static struct subject open_trimmed(int used)
{
    struct subject subject =
        subject_open(LOCAL, &(haft_table_options){.capacity = SLOTS, .object_size = 24});
    static haft_id ids[SLOTS];

    subject_insert_each(&subject, ids, SLOTS);
    subject_free_each(&subject, ids, SLOTS);
    assert_status(haft_local_trim(subject.local, NULL), HAFT_OK);
    for (int i = 0; used != 0 && i < KEPT + used; i++) {
        must(subject_insert(&subject, NULL, &ids[i]) == HAFT_OK);
    }
    return subject;
}

static uint64_t number_in(const struct bytes *bytes, enum local_number number)
{
    return number_at(bytes, number_offset(number));
}

/* A run's record in the file. */
static size_t floor_offset(uint64_t run)
{
    return body_offset((size_t)run * 16);
}

static size_t link_offset(uint64_t run)
{
    return body_offset((size_t)run * 16 + 8);
}

Test(forged_file, page_runs_that_overlap_are_refused)
{
    AT_END(subject_close) struct subject subject = open_trimmed(0);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const uint64_t runs = number_in(&bytes, LOCAL_RUNS);

    cr_assert(lt(u64, 20, runs));
    for (uint64_t run = 0; run + 1 < runs; run++) { /* each names another as the next */
        expect_refused(&subject, &bytes, link_offset(run),
                       number_at(&bytes, link_offset(run)) == 5 ? 6 : 5, "first fresh run");
    }
}

Test(forged_file, a_list_of_page_runs_begins_with_one_that_is_fresh)
{
    AT_END(subject_close) struct subject subject = open_trimmed(200); /* they use one and a half */
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const uint64_t runs = number_in(&bytes, LOCAL_RUNS);
    const uint64_t in_use = number_in(&bytes, LOCAL_FRESH_AT) / RUN_SLOTS;
    const uint64_t far = UINT64_C(1) << 57 | number_in(&bytes, LOCAL_FIRST_RUN); /* times 128 */
    const uint64_t wrong[] = {0, in_use, runs, runs + 1, RUN_KEPT, far};

    cr_assert(ne(u64, number_in(&bytes, LOCAL_FRESH_AT), number_in(&bytes, LOCAL_FRESH_END)));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        expect_wrong_number(&subject, &bytes, LOCAL_FIRST_RUN, wrong[i], "first fresh run");
    }
}

/* The one in use and the first of the list change places: no number tells. */
Test(forged_file, a_page_run_that_has_objects_is_in_no_list)
{
    AT_END(subject_close) struct subject subject = open_trimmed(200);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const uint64_t fresh = number_in(&bytes, LOCAL_FIRST_RUN);
    const uint64_t at = number_in(&bytes, LOCAL_FRESH_AT);
    const uint64_t in_use = at / RUN_SLOTS;

    set_number(&bytes, number_offset(LOCAL_FIRST_RUN), in_use);
    set_number(&bytes, link_offset(in_use), number_at(&bytes, link_offset(fresh)));
    set_number(&bytes, link_offset(fresh), RUN_IN_USE);
    set_number(&bytes, number_offset(LOCAL_FRESH_AT), fresh * RUN_SLOTS + at % RUN_SLOTS);
    set_number(&bytes, number_offset(LOCAL_FRESH_END), (fresh + 1) * RUN_SLOTS);
    expect_refused_for(&subject, &bytes, "first fresh run");
}

Test(forged_file, a_page_run_begins_with_a_generation_and_the_tag)
{
    AT_END(subject_close) struct subject subject = open_trimmed(0);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const uint64_t run = number_in(&bytes, LOCAL_FIRST_RUN);
    const uint64_t begin = number_at(&bytes, floor_offset(run));

    cr_assert(eq(u64, begin, UINT64_C(2) << 32));
    expect_refused(&subject, &bytes, floor_offset(run), begin | 1, "a page run's floor");
    expect_refused(&subject, &bytes, floor_offset(run), 1, "a page run's floor");
}

Test(forged_file, the_page_run_in_use_is_fresh_to_its_end)
{
    AT_END(subject_close) struct subject subject = open_trimmed(10);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const uint64_t at = number_in(&bytes, LOCAL_FRESH_AT);
    const uint64_t end = number_in(&bytes, LOCAL_FRESH_END);

    cr_assert(lt(u64, at, end));
    expect_wrong_number(&subject, &bytes, LOCAL_FRESH_AT, at - 1, "start of the fresh run in use");
    expect_wrong_number(&subject, &bytes, LOCAL_FRESH_AT, end + 1, "start of the fresh run in use");
    expect_wrong_number(&subject, &bytes, LOCAL_FRESH_AT, 0, "start of the fresh run in use");
    expect_wrong_number(&subject, &bytes, LOCAL_FRESH_END, end - 1,
                        "start of the fresh run in use");
    expect_wrong_number(&subject, &bytes, LOCAL_FRESH_END, UINT64_MAX,
                        "start of the fresh run in use");
}

Test(forged_file, the_page_run_in_use_is_not_in_the_list)
{
    AT_END(subject_close) struct subject subject = open_trimmed(0);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const uint64_t listed = number_in(&bytes, LOCAL_FIRST_RUN);

    set_number(&bytes, number_offset(LOCAL_FRESH_AT), listed * RUN_SLOTS);
    set_number(&bytes, number_offset(LOCAL_FRESH_END), (listed + 1) * RUN_SLOTS);
    expect_refused_for(&subject, &bytes, "start of the fresh run in use");
}

/* The last slot of a run, which was free, becomes the run in use. */
Test(forged_file, the_page_run_in_use_is_of_a_table_that_has_page_runs)
{
    AT_END(subject_close) struct subject subject = subject_open(LOCAL, &options);
    const uint64_t last = RUN_SLOTS - 1;
    haft_id id = HAFT_NIL;

    while ((id.bits & 0xffff) != last) {
        assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    }
    assert_status(subject_free(&subject, id), HAFT_OK);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);

    cr_assert(eq(u64, number_in(&bytes, LOCAL_HEAD), last));
    set_number(&bytes, word_offset(last), 0);
    set_number(&bytes, number_offset(LOCAL_HEAD), MARK_END);
    set_number(&bytes, number_offset(LOCAL_FRESH_AT), last);
    set_number(&bytes, number_offset(LOCAL_FRESH_END), last + 1);
    set_number(&bytes, number_offset(LOCAL_FRESH_SLOTS), 1);
    expect_refused_for(&subject, &bytes, "start of the fresh run in use");
}

Test(forged_file, each_fresh_slot_is_in_a_page_run_of_the_list_or_in_use)
{
    AT_END(subject_close) struct subject subject = open_trimmed(10);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const uint64_t at = number_in(&bytes, LOCAL_FRESH_AT);
    const uint64_t slots = number_in(&bytes, LOCAL_FRESH_SLOTS);

    expect_wrong_number(&subject, &bytes, LOCAL_FRESH_SLOTS, slots - 1, "number of fresh slots");
    expect_wrong_number(&subject, &bytes, LOCAL_FRESH_AT, at + 1, "number of fresh slots");
    expect_wrong_number(&subject, &bytes, LOCAL_FRESH_END, at, "number of fresh slots");
    const uint64_t run = number_in(&bytes, LOCAL_FIRST_RUN);

    set_number(&bytes, number_offset(LOCAL_FIRST_RUN), number_at(&bytes, link_offset(run)));
    set_number(&bytes, link_offset(run), RUN_IN_USE);
    expect_refused_for(&subject, &bytes, "number of fresh slots");
    set_number(&bytes, number_offset(LOCAL_FRESH_SLOTS), slots - RUN_SLOTS);
    expect_refused_for(&subject, &bytes, "number of fresh slots");
}

Test(forged_file, page_runs_are_as_many_as_the_slots_need)
{
    AT_END(subject_close) struct subject subject = open_trimmed(0);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const uint64_t runs = number_in(&bytes, LOCAL_RUNS);

    expect_wrong_number(&subject, &bytes, LOCAL_RUNS, runs + 1, "number of page runs");
    expect_wrong_number(&subject, &bytes, LOCAL_RUNS, runs - 1, "number of page runs");
}

Test(forged_file, a_fresh_slot_is_in_no_list_of_free_ones)
{
    AT_END(subject_close) struct subject subject = open_trimmed(0);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const uint64_t fresh = number_in(&bytes, LOCAL_FIRST_RUN) * RUN_SLOTS;

    expect_wrong_number(&subject, &bytes, LOCAL_HEAD, fresh, "first free slot");
}

/* Of slots with one life each: those below a restored one are free, the first is used up. */
Test(forged_file, an_exhausted_slot_is_in_no_list_of_free_ones)
{
    const haft_table_options once = {.capacity = 20, .layout = {8, 1, 0, 0}};
    AT_END(subject_close) struct subject subject = subject_open(LOCAL, &once);
    const haft_id above = haft_id_pack(once.layout, HAFT_FIRST_INDEX + 7, 1, 0);
    haft_id id;

    assert_status(haft_local_restore(subject.local, above, NULL), HAFT_OK);
    assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    assert_status(subject_free(&subject, id), HAFT_OK);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);

    expect_wrong_number(&subject, &bytes, LOCAL_HEAD, haft_id_index(once.layout, id),
                        "first free slot");
}

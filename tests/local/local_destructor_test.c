/* haft_local_set_destroy: another on_destroy; haft_local_used_range: the slots to walk over. */
#include "tests/support.h"
#include <haft/share.h>
#include <haft/view.h>

TestSuite(local_destructor, .timeout = SUITE_SECONDS);

#define OBJECTS 20

static void count_one(void *object, haft_id id, void *calls)
{
    (void)object, (void)id;
    ++*(int *)calls;
}

static haft_local *open_local(haft_local_reuse reuse, haft_local_destroy *on_destroy, void *arg)
{
    const haft_local_options options = {
        .capacity = OBJECTS,
        .object_size = sizeof(int),
        .reuse = reuse,
        .on_destroy = on_destroy,
        .destroy_arg = arg,
    };
    haft_local *local = NULL;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    return local;
}

static haft_id insert_one(haft_local *local)
{
    haft_id id = HAFT_NIL;

    must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    return id;
}

/* --- set_destroy --- */

static void check_set(haft_local_reuse reuse)
{
    haft_local *local = open_local(reuse, NULL, NULL);
    int calls = 0;
    const haft_id before = insert_one(local);
    const haft_id after = insert_one(local);

    insert_one(local);
    must(haft_local_free(local, before) == HAFT_OK);
    haft_local_set_destroy(local, count_one, &calls);
    cr_expect(eq(int, calls, 0));
    must(haft_local_free(local, after) == HAFT_OK);
    cr_expect(eq(int, calls, 1));
    insert_one(local);
    haft_local_close(local);
    cr_expect(eq(int, calls, 3));
    expect_no_leaks();
}

Test(local_destructor, set_later_runs_for_what_ends_from_then_on)
{
    check_set(HAFT_REUSE_LIFO);
    check_set(HAFT_REUSE_FIFO);
}

Test(local_destructor, set_takes_the_place_of_the_option)
{
    int first = 0;
    int second = 0;
    haft_local *local = open_local(HAFT_REUSE_LIFO, count_one, &first);

    haft_local_set_destroy(local, count_one, &second);
    must(haft_local_free(local, insert_one(local)) == HAFT_OK);
    cr_expect(eq(int, first, 0));
    cr_expect(eq(int, second, 1));
    haft_local_close(local);
}

Test(local_destructor, null_ends_it_and_slots_are_reused_as_before)
{
    int calls = 0;
    haft_local *local = open_local(HAFT_REUSE_LIFO, count_one, &calls);
    const haft_id id = insert_one(local);

    haft_local_set_destroy(local, NULL, NULL);
    must(haft_local_free(local, id) == HAFT_OK);
    const haft_id next = insert_one(local);
    cr_expect(
        eq(u32, haft_id_index(HAFT_LAYOUT_32_32, next), haft_id_index(HAFT_LAYOUT_32_32, id)));
    cr_expect(eq(u64, haft_local_count(local), 1));
    haft_local_close(local);
    cr_expect(eq(int, calls, 0));
}

Test(local_destructor, set_while_loading_holds_afterwards)
{
    int calls = 0;
    haft_local *local = open_local(HAFT_REUSE_LIFO, NULL, NULL);

    haft_local_load_begin(local);
    haft_local_set_destroy(local, count_one, &calls);
    must(haft_local_restore(local, haft_id_pack(HAFT_LAYOUT_32_32, 9, 3, 0), NULL) == HAFT_OK);
    haft_local_load_end(local);
    for (int i = 1; i < OBJECTS; i++) {
        insert_one(local);
    }
    haft_local_close(local);
    cr_expect(eq(int, calls, OBJECTS));
}

Test(local_destructor, set_in_a_table_that_was_opened_shared_runs_once_for_each_object)
{
    const haft_table_options options = {.capacity = OBJECTS, .object_size = sizeof(int)};
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    haft_domain *domain = NULL;
    haft_table *table = NULL;
    haft_worker *worker = NULL;
    haft_local *local = NULL;
    haft_id id = HAFT_NIL;
    int calls = 0;

    must(haft_domain_open(&frames, &domain) == HAFT_OK);
    must(haft_table_open(domain, &options, &table) == HAFT_OK);
    must(haft_worker_open(table, &worker) == HAFT_OK);
    for (int i = 0; i < 5; i++) {
        must(haft_insert(worker, NULL, &id) == HAFT_OK);
    }
    must(haft_free(worker, id) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    assert_status(haft_unshare(table, &local), HAFT_OK);
    haft_local_set_destroy(local, count_one, &calls);
    haft_local_close(local);
    cr_expect(eq(int, calls, 4));
    must(haft_domain_close(domain) == HAFT_OK);
}

/* --- used_range --- */

Test(local_destructor, used_range_of_a_table_that_never_had_an_object_is_empty)
{
    haft_local *local = open_local(HAFT_REUSE_LIFO, NULL, NULL);
    const haft_range range = haft_local_used_range(local);

    cr_expect(eq(u64, range.from, range.to));
    haft_local_close(local);
}

Test(local_destructor, used_range_holds_every_slot_that_was_used_and_no_other)
{
    haft_local *local = open_local(HAFT_REUSE_LIFO, NULL, NULL);
    haft_id last = HAFT_NIL;
    void *object;
    int met = 0;

    for (int i = 0; i < 7; i++) {
        last = insert_one(local);
    }
    must(haft_local_free(local, last) == HAFT_OK);
    const haft_range range = haft_local_used_range(local);

    cr_expect(eq(u64, range.from, HAFT_FIRST_INDEX));
    cr_expect(eq(u64, range.to, haft_id_index(HAFT_LAYOUT_32_32, last) + UINT64_C(1)));
    for (haft_run run = haft_run_over(haft_local_view(local), range);
         haft_run_next(&run, &last, &object);) {
        met++;
    }
    cr_expect(eq(int, met, 6));
    haft_local_close(local);
}

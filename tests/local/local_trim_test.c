/* haft_local_trim: memory goes back to the system, and ids from before stay stale for ever. */
#include "tests/support.h"
#include <haft/kit/restore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(trim, .timeout = SUITE_SECONDS);

#define OBJECTS 20000

static haft_id ids[OBJECTS];
static haft_id later[OBJECTS];

static haft_local *open_sized(size_t object_size, size_t alignment, haft_layout layout)
{
    const haft_local_options options = {
        .capacity = OBJECTS,
        .object_size = object_size,
        .object_alignment = alignment,
        .layout = layout,
    };
    return local_open(&options);
}

/* Their pages hold other blocks of the heap as well. */
Test(trim, a_small_table_keeps_its_memory_and_its_order)
{
    const haft_local_options options = {.capacity = 1020, .object_size = 120};
    haft_local *local = local_open(&options);
    uint64_t released = 1;

    local_insert_each(local, ids, 1020);
    local_free_each(local, ids, 1020);
    assert_status(haft_local_trim(local, &released), HAFT_OK);
    cr_expect(eq(u64, released, 0));
    for (int i = 1020; i-- > 0;) {
        must(haft_local_insert(local, NULL, &later[i]) == HAFT_OK);
        must((uint32_t)later[i].bits == (uint32_t)ids[i].bits && later[i].bits != ids[i].bits);
    }
    haft_local_close(local);
    expect_no_leaks();
}

static void fill(haft_local *local, haft_id *into)
{
    local_insert_each(local, into, OBJECTS);
}

static uint64_t trim(haft_local *local)
{
    uint64_t bytes = UINT64_MAX;

    assert_status(haft_local_trim(local, &bytes), HAFT_OK);
    return bytes;
}

static void expect_all_stale(haft_local *local)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_resolve(haft_local_view(local), ids[i]) == NULL);
        must(haft_local_free(local, ids[i]) == HAFT_STALE);
    }
}

/* Each slot is a page, if the system's are the smallest. */
Test(trim, of_objects_of_a_page_each_all_memory_goes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    AT_END(local_end) haft_local *local = open_sized(4088, 8, HAFT_LAYOUT_32_24_8);

    fill(local, ids);
    haft_local_clear(local);
    const uint64_t bytes = trim(local);

    cr_expect(eq(u64, bytes, page == 4096 ? OBJECTS * page : bytes));
}

/* Its word lies in the page before the first that is given back. */
Test(trim, of_objects_each_of_which_is_a_run)
{
    const haft_local_options options = {
        .capacity = 20, .object_size = 200000, .object_alignment = 64};
    AT_END(local_end) haft_local *local = local_open(&options);

    for (int i = 0; i < 20; i++) {
        void *object;

        must(haft_local_reserve(local, &ids[i], &object) == HAFT_OK);
        memset(object, 1, 200000);
        haft_local_publish(local, ids[i]);
    }
    haft_local_clear(local);
    cr_expect(ge(u64, trim(local), 20 * 190000));
    for (int i = 0; i < 20; i++) {
        expect_status(haft_local_free(local, ids[i]), HAFT_STALE);
        must(haft_local_insert(local, NULL, &later[i]) == HAFT_OK);
    }
}

/* No word of the run lies in a page that is given back. */
Test(trim, of_an_object_that_is_a_run_between_two_that_live)
{
    const haft_local_options options = {
        .capacity = 21, .object_size = 200000, .object_alignment = 64};
    AT_END(local_end) haft_local *local = local_open(&options);

    for (int i = 0; i < 21; i++) {
        void *object;

        must(haft_local_reserve(local, &ids[i], &object) == HAFT_OK);
        memset(object, i + 1, 200000);
        haft_local_publish(local, ids[i]);
    }
    for (int i = 1; i < 21; i += 2) {
        must(haft_local_free(local, ids[i]) == HAFT_OK);
    }
    cr_expect(ge(u64, trim(local), 10 * 180000));
    for (int i = 0; i < 21; i++) {
        const char *object = haft_resolve(haft_local_view(local), ids[i]);

        must((object != NULL) == (i % 2 == 0));
        must(object == NULL || (object[0] == i + 1 && object[199999] == i + 1));
    }
    for (int i = 0; i < 10; i++) {
        must(haft_local_insert(local, NULL, &later[i]) == HAFT_OK);
        must(later[i].bits >> 32 == 2);
    }
}

Test(trim, a_page_with_a_live_object_or_a_reservation_stays)
{
    AT_END(local_end) haft_local *local = open_sized(24, 8, HAFT_LAYOUT_32_32);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    haft_id reserved;

    fill(local, ids);
    for (int i = 0; i < OBJECTS; i++) {
        if (i != 1000 && i != 19000) {
            must(haft_local_free(local, ids[i]) == HAFT_OK);
        }
    }
    assert_status(haft_local_reserve(local, &reserved, NULL), HAFT_OK);
    const uint64_t bytes = trim(local);

    /* 157 pages: all but slot 0's, the last used in part, and those of the three slots. */
    cr_expect(ge(u64, bytes, 152 * page));
    cr_expect(le(u64, bytes, 154 * page));
    cr_expect(haft_is_live(haft_local_view(local), ids[1000]));
    cr_expect(haft_is_live(haft_local_view(local), ids[19000]));
    haft_local_publish(local, reserved);
    cr_expect(haft_is_live(haft_local_view(local), reserved));
    cr_expect(eq(u64, haft_local_count(local), 3));
}

Test(trim, slots_go_on_at_the_highest_generation_of_their_run)
{
    AT_END(local_end) haft_local *local = open_sized(24, 8, HAFT_LAYOUT_32_32);
    uint64_t highest = 0;

    fill(local, ids);
    haft_id id = ids[OBJECTS / 2];

    for (int i = 0; i < 9; i++) { /* LIFO: the same slot again and again */
        must(haft_local_free(local, id) == HAFT_OK);
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    }
    haft_local_clear(local);
    trim(local);
    fill(local, later);
    for (int i = 0; i < OBJECTS; i++) {
        const bool is_near = (uint32_t)later[i].bits / 128 == (uint32_t)id.bits / 128;
        const uint64_t generation = haft_id_generation(HAFT_LAYOUT_32_32, later[i]);

        must(generation == (is_near ? 11 : 2));
        highest = generation > highest ? generation : highest;
    }
    cr_expect(eq(u64, highest, 11));
}

Test(trim, ids_never_issued_and_ids_issued_are_told_apart_afterwards)
{
    AT_END(local_end) haft_local *local = open_sized(24, 8, HAFT_LAYOUT_32_32);

    fill(local, ids);
    haft_local_clear(local);
    trim(local);
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_local_diagnose(local, ids[i]) == HAFT_STALE);
        must(haft_local_diagnose(local, (haft_id){ids[i].bits + (UINT64_C(1) << 32)}) ==
             HAFT_NEVER_ISSUED);
    }
}

Test(trim, a_run_with_an_exhausted_slot_stays_and_the_slot_stays_exhausted)
{
    AT_END(local_end) haft_local *local = open_sized(24, 8, HAFT_LAYOUT_OF(20, 2, 0));

    fill(local, ids);
    haft_id id = ids[OBJECTS / 2];

    for (int i = 0; i < 2; i++) {
        must(haft_local_free(local, id) == HAFT_OK);
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    }
    must(haft_local_free(local, id) == HAFT_OK);
    haft_local_clear(local);
    cr_expect(lt(u64, 0, trim(local)));
    expect_status(haft_local_diagnose(local, id), HAFT_EXHAUSTED);
    cr_expect(eq(u64, haft_local_available(local), OBJECTS - 1));
    for (int i = 0; i < OBJECTS - 1; i++) {
        must(haft_local_insert(local, NULL, &later[i]) == HAFT_OK);
        must((uint32_t)later[i].bits % (1 << 20) != (uint32_t)id.bits % (1 << 20));
    }
    expect_status(haft_local_insert(local, NULL, &id), HAFT_FULL);
}

Test(trim, each_slot_of_a_run_whose_ends_share_pages_is_fresh_and_can_be_restored)
{
    for (size_t alignment = 8; alignment <= 64; alignment *= 8) {
        AT_END(local_end) haft_local *local = open_sized(1024, alignment, HAFT_LAYOUT_32_32);

        fill(local, ids);
        haft_local_clear(local);
        cr_expect(lt(u64, 0, trim(local)));
        for (int i = 0; i < OBJECTS; i++) {
            const int which = alignment == 8 ? OBJECTS - 1 - i : i; /* from either end */
            const haft_id again = {ids[which].bits + (UINT64_C(1) << 32)};

            must(haft_local_restore(local, again, NULL) == HAFT_OK);
        }
        cr_expect(eq(u64, haft_local_available(local), 0));
    }
}

Test(trim, a_run_that_was_released_and_restored_to_is_released_again)
{
    AT_END(local_end) haft_local *local = open_sized(1024, 8, HAFT_LAYOUT_32_32);

    fill(local, ids);
    haft_local_clear(local);
    cr_expect(lt(u64, 0, trim(local)));
    cr_expect(eq(u64, trim(local), 0));
    for (int i = OBJECTS / 4; i < OBJECTS; i += OBJECTS / 4) { /* not in the first of the list */
        const haft_id again = {ids[i].bits + (UINT64_C(1) << 32)};

        must(haft_local_restore(local, again, NULL) == HAFT_OK);
        must(haft_local_free(local, again) == HAFT_OK);
        cr_expect(lt(u64, 0, trim(local)));
    }
}

Test(trim, of_a_table_that_has_wrapped_says_why_it_cannot)
{
    const haft_local_options options = {
        .capacity = OBJECTS, .object_size = 24, .layout = {20, 2, 0, 0}, .wrap = true};
    AT_END(local_end) haft_local *local = local_open(&options);

    fill(local, ids);
    haft_local_clear(local);
    cr_expect(lt(u64, 0, trim(local)));
    for (int i = 0; i < 2; i++) {
        fill(local, ids);
        haft_local_clear(local);
    }
    uint64_t released = 42;

    expect_status(haft_local_trim(local, &released), HAFT_BAD_WRAP);
    cr_expect(eq(u64, released, 42));
}

Test(trim, with_min_free_the_slots_freed_last_stay)
{
    const haft_local_options options = {
        .capacity = OBJECTS, .object_size = 24, .reuse = HAFT_REUSE_FIFO, .min_free = 10000};
    AT_END(local_end) haft_local *local = local_open(&options);

    fill(local, ids);
    haft_local_clear(local);
    const uint64_t bytes = trim(local);

    cr_expect(lt(u64, UINT64_C(9500) * 32, bytes));
    cr_expect(lt(u64, bytes, UINT64_C(10000) * 32));
    fill(local, later);
    expect_all_stale(local);
    for (int i = 0; i < 10000 - 4; i++) { /* the oldest are reused, and fresh slots taken */
        must(later[i].bits % (UINT64_C(1) << 32) < 10004 ||
             later[i].bits % (UINT64_C(1) << 32) >= 20000);
    }
    haft_local_clear(local); /* now others were freed last, and those that stayed may go */
    cr_expect(lt(u64, UINT64_C(19500) * 32, trim(local)));
}

Test(trim, with_fewer_free_slots_than_min_free_all_stay)
{
    const haft_local_options options = {
        .capacity = OBJECTS, .object_size = 24, .reuse = HAFT_REUSE_FIFO, .min_free = 10000};
    AT_END(local_end) haft_local *local = local_open(&options);

    fill(local, ids);
    local_free_each(local, ids, 9000);
    cr_expect(eq(u64, trim(local), 0));
}

/* A scene is loaded and dropped over and over: memory comes and goes, the table does not grow. */
Test(trim, a_thousand_times_the_table_does_not_grow)
{
    AT_END(local_end) haft_local *local = open_sized(24, 8, HAFT_LAYOUT_20_12);
    uint64_t highest = 0;

    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 2000; i++) {
            must(haft_local_insert(local, NULL, &ids[i]) == HAFT_OK);
            highest = haft_id_index(HAFT_LAYOUT_20_12, ids[i]) > highest
                          ? haft_id_index(HAFT_LAYOUT_20_12, ids[i])
                          : highest;
        }
        haft_local_clear(local);
        must(trim(local) != 0);
        must(pages_in_memory(haft_local_view(local)) < 32);
    }
    cr_expect(lt(u64, highest, 4 + 2000 + 128));
}

Test(trim, of_a_run_that_fresh_slots_are_drawn_from_issues_none_twice)
{
    AT_END(local_end) haft_local *local = open_sized(24, 8, HAFT_LAYOUT_32_24_8);

    fill(local, ids);
    haft_local_clear(local);
    must(trim(local) != 0);
    for (int i = 0; i < 300; i++) { /* some slots that were not released, then a part of a run */
        must(haft_local_insert(local, NULL, &ids[i]) == HAFT_OK);
    }
    local_free_each(local, ids, 300);
    must(trim(local) != 0);

    for (int i = 0; i < OBJECTS; i++) {
        const int numbers[6] = {i};

        must(haft_local_insert(local, numbers, &later[i]) == HAFT_OK);
    }
    for (int i = 0; i < OBJECTS; i++) {
        const int *number = haft_resolve(haft_local_view(local), later[i]);

        must(number != NULL && *number == i);
    }
}

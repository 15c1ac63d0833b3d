/* haft_local when the system refuses: a clean status, nothing changed, and the table usable. */
#include "tests/base/faults.h"
#include <haft/kit/restore.h>
#include <string.h>

TestSuite(local_failing, .timeout = SUITE_SECONDS);

#define OBJECTS 10000

static haft_id ids[OBJECTS];

static haft_local *open_filled(bool strict)
{
    const haft_local_options options = {.capacity = 100000, .object_size = 1016};
    haft_local *local;

    faults.strict = strict;
    assert_status(haft_local_open(&options, &local), HAFT_OK);
    local_insert_each(local, ids, OBJECTS);
    return local;
}

/* All slots used so far can be used again, and no id from before comes back. */
static void expect_usable(haft_local *local)
{
    haft_id id;

    for (int i = 0; i < OBJECTS; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        must(id.bits >> 32 >= 2);
        must(!haft_is_live(haft_local_view(local), ids[i]));
    }
    must(haft_local_count(local) == OBJECTS);
}

Test(local_failing, trim_without_memory_for_its_records_changes_nothing)
{
    haft_local *local = open_filled(false);
    uint64_t bytes = 99;

    haft_local_clear(local);
    faults.no_memory = true;
    expect_status(haft_local_trim(local, &bytes), HAFT_NO_MEMORY);
    cr_expect(eq(u64, bytes, 99));
    faults.no_memory = false;
    expect_usable(local);
    haft_local_clear(local);
    expect_status(haft_local_trim(local, &bytes), HAFT_OK);
    cr_expect(lt(u64, 9000 * 1024, bytes));
    expect_usable(local);
    haft_local_close(local);
    expect_no_leaks();
}

Test(local_failing, trim_under_strict_overcommit)
{
    haft_local *local = open_filled(true);
    uint64_t bytes = 99;

    haft_local_clear(local);
    faults.no_protect = true;
    expect_status(haft_local_trim(local, &bytes), HAFT_NO_MEMORY);
    cr_expect(eq(u64, bytes, 99));
    faults.no_protect = false;
    expect_status(haft_local_trim(local, &bytes), HAFT_OK);
    cr_expect(lt(u64, 9000 * 1024, bytes));
    expect_usable(local);
    haft_local_close(local);
    expect_no_leaks();
}

Test(local_failing, trim_of_locked_memory_gives_none_back_and_ids_stay_stale)
{
    haft_local *local = open_filled(false);
    uint64_t bytes = 99;

    haft_local_clear(local);
    faults.no_advice = true;
    expect_status(haft_local_trim(local, &bytes), HAFT_OK);
    cr_expect(eq(u64, bytes, 0));
    for (int i = 0; i < OBJECTS; i++) {
        must(!haft_is_live(haft_local_view(local), ids[i]));
    }
    faults.no_advice = false;
    expect_usable(local);
    haft_local_close(local);
    expect_no_leaks();
}

Test(local_failing, reserve_capacity_says_what_is_refused_and_holds_its_promise)
{
    haft_local *local = open_filled(true);
    haft_id id = {0x5a5a};
    uint64_t count = 0;

    faults.no_protect = true;
    expect_status(haft_local_reserve_capacity(local, 20000), HAFT_NO_MEMORY);
    while (haft_local_insert(local, NULL, &id) == HAFT_OK) { /* the rest of the last step */
        count++;
    }
    cr_expect(lt(u64, count, 2100));
    expect_status(haft_local_insert(local, NULL, &id), HAFT_NO_MEMORY);
    faults.no_protect = false;
    faults.no_advice = true;
    expect_status(haft_local_reserve_capacity(local, 20000), HAFT_NO_MEMORY);
    faults.no_advice = false;
    expect_status(haft_local_reserve_capacity(local, 20000), HAFT_OK);
    faults.no_protect = true;
    for (int i = 0; i < 20000; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        must(i % 3 != 0 || haft_local_free(local, id) == HAFT_OK);
    }
    haft_local_close(local);
    expect_no_leaks();
}

/* Slots in the list whose memory was never written, in two ranges. */
Test(local_failing, reserve_capacity_of_slots_below_restored_ones_says_what_is_refused)
{
    const haft_local_options options = {.capacity = 100000, .object_size = 1016};
    haft_local *local;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    for (uint64_t above = 600; above != 0; above -= 300) {
        const haft_id id = haft_id_pack(HAFT_LAYOUT_32_32, HAFT_FIRST_INDEX + above, 1, 0);

        assert_status(haft_local_restore(local, id, NULL), HAFT_OK);
    }
    faults.no_advice = true;
    expect_status(haft_local_reserve_capacity(local, 500), HAFT_NO_MEMORY);
    faults.no_advice = false;
    expect_status(haft_local_reserve_capacity(local, 500), HAFT_OK);
    haft_local_close(local);
    expect_no_leaks();
}

Test(local_failing, reserve_capacity_knows_that_min_free_slots_stay_free)
{
    const haft_local_options options = {
        .capacity = 100000, .object_size = 1016, .reuse = HAFT_REUSE_FIFO, .min_free = 5000};
    haft_local *local;
    haft_id id;

    faults.strict = true;
    assert_status(haft_local_open(&options, &local), HAFT_OK);
    for (int i = 0; i < 5000; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    }
    haft_local_clear(local); /* 5,000 are free and have to stay so */
    expect_status(haft_local_reserve_capacity(local, 10000), HAFT_OK);
    faults.no_protect = true;
    for (int i = 0; i < 10000; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    }
    haft_local_close(local);
    expect_no_leaks();
}

Test(local_failing, restore_without_memory_changes_nothing)
{
    haft_local *local = open_filled(true);
    const haft_id far = {UINT64_C(7) << 32 | 90000};

    for (int loads = 0; loads < 2; loads++) {
        if (loads) {
            haft_local_load_begin(local);
        }
        faults.no_protect = true;
        expect_status(haft_local_restore(local, far, NULL), HAFT_NO_MEMORY);
        expect_status(haft_local_restore_free(local, far), HAFT_NO_MEMORY);
        cr_expect(eq(u64, haft_local_count(local), OBJECTS));
        cr_expect(not(haft_is_live(haft_local_view(local), far)));
        faults.no_protect = false;
        if (loads) {
            expect_status(haft_local_restore(local, far, NULL), HAFT_OK);
            haft_local_load_end(local);
        }
    }
    cr_expect(haft_is_live(haft_local_view(local), far));
    haft_local_close(local);
    expect_no_leaks();
}

/* However far off the restored object lies, while `fault` keeps the records from being made. */
static void expect_every_slot_listed(haft_local *local, bool *fault)
{
    const haft_id far = {UINT64_C(7) << 32 | 90000};
    haft_id id;

    haft_local_load_begin(local);
    assert_status(haft_local_restore(local, far, NULL), HAFT_OK);
    *fault = true;
    haft_local_load_end(local);
    *fault = false;
    for (uint64_t i = 0; i < 90000 - 4 - OBJECTS; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        must((id.bits & UINT32_MAX) == 4 + OBJECTS + i);
    }
    haft_local_close(local);
    expect_no_leaks();
}

Test(local_failing, load_end_without_memory_for_its_records_lists_every_slot)
{
    expect_every_slot_listed(open_filled(false), &faults.no_memory);
}

Test(local_failing, load_end_that_cannot_write_its_records_lists_every_slot)
{
    expect_every_slot_listed(open_filled(true), &faults.no_protect);
}

Test(local_failing, reserve_capacity_of_memory_given_back_says_so)
{
    AT_END(local_end) haft_local *local = open_filled(false);

    haft_local_clear(local);
    assert_status(haft_local_trim(local, NULL), HAFT_OK);
    faults.no_advice = true;
    expect_status(haft_local_reserve_capacity(local, OBJECTS), HAFT_NO_MEMORY);
    faults.no_advice = false;
    expect_status(haft_local_reserve_capacity(local, OBJECTS), HAFT_OK);
    expect_usable(local);
}

Test(local_failing, without_random_bits_first_generations_still_lie_in_the_lower_half)
{
    const haft_local_options options = {.capacity = 10, .first_generation = HAFT_RANDOM_GENERATION};

    faults.no_random = true;
    for (int i = 0; i < 100; i++) {
        AT_END(local_end) haft_local *local = local_open(&options);
        haft_id id;

        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        const uint64_t generation = haft_id_generation(HAFT_LAYOUT_32_32, id);

        must(generation >= 1 && generation <= UINT64_C(1) << 31);
    }
}

/* --- pages that are larger --- */

#define LARGE_PAGE ((size_t)64 << 10)

/* The ids after a trim that leaves one object of `left_of` alone, and the bytes released by it. */
static uint64_t ids_after_trim(size_t page, uint64_t left_of, haft_id *after)
{
    const haft_local_options options = {.capacity = 100000, .object_size = 1016};
    haft_local *local;
    uint64_t bytes = 0;

    faults.page = page;
    assert_status(haft_local_open(&options, &local), HAFT_OK);
    local_insert_each(local, ids, OBJECTS);
    for (uint64_t i = 0; i < OBJECTS; i++) {
        must(i % left_of == 0 || haft_local_free(local, ids[i]) == HAFT_OK);
    }
    assert_status(haft_local_trim(local, &bytes), HAFT_OK);
    local_insert_each(local, after, OBJECTS);
    haft_local_close(local);
    return bytes;
}

Test(local_failing, after_a_trim_ids_are_alike_whatever_pages_the_system_has)
{
    static haft_id after[2][OBJECTS];
    const uint64_t bytes[2] = {ids_after_trim(4096, 10, after[0]),
                               ids_after_trim(LARGE_PAGE, 10, after[1])};

    cr_expect(zero(int, memcmp(after[0], after[1], sizeof after[0])));
    cr_expect(lt(u64, 0, bytes[0]));
    cr_expect(zero(u64, bytes[1])); /* an object is left in each of these pages */
}

Test(local_failing, a_trim_releases_larger_pages_that_no_object_lies_in)
{
    static haft_id after[OBJECTS];
    const uint64_t bytes = ids_after_trim(LARGE_PAGE, 2000, after);

    cr_expect(zero(u64, bytes % LARGE_PAGE));
    cr_expect(lt(u64, OBJECTS * UINT64_C(1024) - 7 * 3 * LARGE_PAGE, bytes));
}

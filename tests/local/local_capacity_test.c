/* How much fits: count, available, and memory had beforehand. */
#include "tests/slots/saving.h"
#include "tests/support.h"
#include <haft/kit/restore.h>
#include <string.h>

TestSuite(local_capacity, .timeout = SUITE_SECONDS);

static void expect_room(const haft_local *local, uint64_t count, uint64_t available)
{
    cr_expect(eq(u64, haft_local_count(local), count));
    cr_expect(eq(u64, haft_local_available(local), available));
}

Test(local_capacity, available_leaves_out_live_reserved_and_exhausted_slots)
{
    haft_local *local = local_open(&(haft_local_options){.capacity = 4, .layout = {3, 1, 0, 0}});
    haft_id a;
    haft_id b;
    haft_id c;

    expect_room(local, 0, 4);
    assert_status(haft_local_insert(local, NULL, &a), HAFT_OK);
    expect_room(local, 1, 3);
    assert_status(haft_local_reserve(local, &b, NULL), HAFT_OK);
    expect_room(local, 1, 2);
    assert_status(haft_local_reserve(local, &c, NULL), HAFT_OK);
    expect_room(local, 1, 1);
    haft_local_publish(local, b);
    expect_room(local, 2, 1);
    haft_local_abort(local, c); /* one life a slot: exhausted */
    expect_room(local, 2, 1);
    assert_status(haft_local_free(local, a), HAFT_OK);
    expect_room(local, 1, 1);
    expect_status(haft_local_free(local, a), HAFT_EXHAUSTED);
    haft_local_clear(local);
    expect_room(local, 0, 1);
    assert_status(haft_local_insert(local, NULL, &a), HAFT_OK);
    expect_room(local, 1, 0);
    expect_status(haft_local_insert(local, NULL, &b), HAFT_FULL);
    haft_local_close(local);
}

/* --- beforehand --- */

Test(local_capacity, reserve_capacity_brings_the_memory_in_at_once)
{
    need_wide_addresses();
    haft_local *local = local_open(&(haft_local_options){.capacity = 1 << 20, .object_size = 4088});
    haft_id id;

    must(haft_local_insert(local, NULL, &id) == HAFT_OK); /* all code and stack have been used */
    const long before = resident_pages();

    expect_status(haft_local_reserve_capacity(local, 5000), HAFT_OK);
    const long between = resident_pages();

    for (int i = 0; i < 5000; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    }
    cr_expect(ge(long, between - before, 4900));
    /* A sanitizer's among them, and those that it reads. */
    const long most = under_asan() && reading_takes_memory() ? 2000 : 1000;
    cr_expect(lt(long, resident_pages() - between, most));
    haft_local_close(local);
}

Test(local_capacity, reserve_capacity_counts_free_slots_and_brings_trimmed_ones_back)
{
    need_wide_addresses();
    haft_local *local = local_open(&(haft_local_options){.capacity = 1 << 20, .object_size = 4088});
    haft_id id;

    for (int i = 0; i < 3000; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    }
    haft_local_clear(local);
    const long full = resident_pages();

    expect_status(haft_local_reserve_capacity(local, 3000), HAFT_OK);
    cr_expect(lt(long, resident_pages() - full, 100)); /* all there already */
    must(haft_local_trim(local, NULL) == HAFT_OK);
    cr_expect(lt(long, resident_pages(), full - 2900));
    must(haft_local_insert(local, NULL, &id) == HAFT_OK); /* a run is in use */
    expect_status(haft_local_reserve_capacity(local, 4000), HAFT_OK);
    cr_expect(lt(long, full + 900, resident_pages()));
    haft_local_close(local);
}

#define SLOT_PAGES 4
static const haft_local_options of_four_pages = {.capacity = 2000,
                                                 .object_size = SLOT_PAGES * 4096 - 8};

/* A table that holds nothing, with free slots of which no byte was written, or the word alone. */
enum past { LOADED, RESTORED_ABOVE, RESTORED_FREE, PASTS };

static haft_local *open_with_past(enum past past)
{
    struct subject subject = {.kind = LOCAL, .local = local_open(&of_four_pages)};
    haft_local *local = local_open(&of_four_pages);
    struct bytes bytes = {0};
    haft_id id = HAFT_NIL;

    for (int i = 0; past == LOADED && i < 600; i++) {
        must(haft_local_insert(subject.local, NULL, &id) == HAFT_OK);
    }
    haft_local_clear(subject.local);
    if (past == LOADED) {
        haft_file file = file_of(&bytes);

        bytes = saved_of(&subject);
        assert_status(haft_local_load(local, &file), HAFT_OK);
        free(bytes.at);
    } else if (past == RESTORED_ABOVE) {
        id = haft_id_pack(HAFT_LAYOUT_32_32, HAFT_FIRST_INDEX + 600, 1, 0);
        assert_status(haft_local_restore(local, id, NULL), HAFT_OK);
    } else {
        haft_local_load_begin(local);
        for (uint64_t i = 0; i < 600; i++) {
            id = haft_id_pack(HAFT_LAYOUT_32_32, HAFT_FIRST_INDEX + i, 2, 0);
            must(haft_local_restore_free(local, id) == HAFT_OK);
        }
        haft_local_load_end(local);
    }
    haft_local_close(subject.local);
    return local;
}

Test(local_capacity, reserve_capacity_brings_in_the_memory_of_free_slots_never_written)
{
    need_wide_addresses();
    for (enum past past = LOADED; past < PASTS; past++) {
        AT_END(local_end) haft_local *local = open_with_past(past);
        haft_id id;
        const long before = resident_pages();

        expect_status(haft_local_reserve_capacity(local, 500), HAFT_OK);
        const long between = resident_pages();

        for (int i = 0; i < 500; i++) {
            must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        }
        if (past != LOADED || !reading_takes_memory()) { /* loading looks whether bytes are 0 */
            cr_expect(ge(long, between - before, 500 * (SLOT_PAGES - 1) - 100), "%d", past);
        }
        cr_expect(le(long, between - before, 500 * SLOT_PAGES + 500), "%d", past);
        cr_expect(lt(long, resident_pages() - between, 600), "%d", past); /* as above */
        haft_local_clear(local);
    }
}

Test(local_capacity, reserve_capacity_beyond_what_is_available_is_full_and_none_is_ok)
{
    AT_END(local_end) haft_local *local = local_open(&(haft_local_options){.capacity = 10});
    haft_id id;

    expect_status(haft_local_reserve_capacity(local, 10), HAFT_OK);
    expect_status(haft_local_reserve_capacity(local, 11), HAFT_FULL);
    expect_status(haft_local_reserve_capacity(local, UINT64_MAX), HAFT_FULL);
    for (int i = 0; i < 10; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    }
    expect_status(haft_local_reserve_capacity(local, 0), HAFT_OK);
    expect_status(haft_local_reserve_capacity(local, 1), HAFT_FULL);
}

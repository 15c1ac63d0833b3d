/* The packed table: what memory it takes, and when. */
#include "tests/packed/packed.h"
#include <string.h>

TestSuite(packed_memory, .timeout = SUITE_SECONDS);

/* Pages that others may touch meanwhile: AddressSanitizer keeps a byte for eight. */
#define FEW 500

/* Pages that opening such a table makes resident, and then that many inserts. */
struct pages {
    long opening;
    long inserting;
};

static struct pages pages_with(haft_packed_options options, uint64_t inserts)
{
    haft_packed *warm = packed_open(&(haft_packed_options){.capacity = 1, .object_size = 104});
    haft_id id;

    haft_packed_close(warm);
    const long before = resident_pages();
    haft_packed *packed = packed_open(&options);
    const long opened = resident_pages();

    for (uint64_t i = 0; i < inserts; i++) {
        must(haft_packed_insert(packed, NULL, &id) == HAFT_OK);
    }
    const struct pages pages = {opened - before, resident_pages() - opened};

    packed_close(packed);
    return pages;
}

static struct pages pages_for(uint64_t capacity, uint64_t growth_step, uint64_t inserts)
{
    return pages_with(
        (haft_packed_options){.capacity = capacity, .object_size = 104, .growth_step = growth_step},
        inserts);
}

Test(packed_memory, an_empty_table_of_the_largest_capacity_costs_a_few_pages)
{
    need_wide_addresses();
    cr_expect(lt(long, pages_for((UINT64_C(1) << 32) - 4, 0, 0).opening, 64));
    cr_expect(lt(long, pages_for((UINT64_C(1) << 32) - 4, 100, 0).opening, 80));
}

Test(packed_memory, without_a_growth_step_it_is_touched_as_positions_are_first_used)
{
    need_wide_addresses();
    const struct pages pages = pages_for(UINT64_C(1) << 30, 0, 128000); /* 128 bytes each */

    cr_expect(ge(long, pages.inserting, 3900));
    cr_expect(lt(long, pages.inserting, 5000));
}

Test(packed_memory, with_a_growth_step_it_is_touched_a_step_in_advance)
{
    need_wide_addresses();
    const struct pages within = pages_for(UINT64_C(1) << 30, 100000, 100000);
    const struct pages beyond = pages_for(UINT64_C(1) << 30, 100000, 100001);

    cr_expect(ge(long, within.opening, 3000)); /* 132 bytes each: 3222 pages */
    cr_expect(lt(long, within.inserting, FEW));
    cr_expect(ge(long, beyond.inserting, 3000));
    cr_expect(lt(long, beyond.inserting, 4000));
}

Test(packed_memory, a_fixed_table_touches_all_at_opening_and_none_later)
{
    const struct pages fixed = pages_for(100000, HAFT_PACKED_FIXED, 100000);
    const struct pages capacity = pages_for(100000, 100000, 100000);

    cr_expect(ge(long, fixed.opening, 3000));
    cr_expect(lt(long, fixed.opening, 4000));
    cr_expect(lt(long, fixed.inserting, FEW));
    cr_expect(ge(long, capacity.opening, 3000));
    cr_expect(lt(long, capacity.inserting, FEW));
}

/* 16 bytes a slot: 3125 pages. */
Test(packed_memory, a_fixed_table_touches_its_sites_at_opening_too)
{
    const struct pages fixed = pages_with(
        (haft_packed_options){
            .capacity = 800000, .object_size = 8, .growth_step = HAFT_PACKED_FIXED, .sites = true},
        800000);

    cr_expect(lt(long, fixed.inserting, FEW));
}

Test(packed_memory, objects_and_slots_are_as_they_were_when_a_step_begins)
{
    for (uint64_t step = 0; step < 40; step += 3) {
        const haft_packed_options options = {
            .capacity = 100, .object_size = 8, .growth_step = step};
        AT_END(packed_end) haft_packed *packed = packed_open(&options);
        haft_id ids[100];

        packed_fill(packed, ids, 100);
        for (uint64_t i = 0; i < 100; i++) {
            must(packed_value_at(packed, i) == i);
        }
        must(haft_packed_insert(packed, NULL, ids) == HAFT_FULL);
        packed_must_be_sound(packed, 8);
    }
}

Test(packed_memory, failed_frees_and_kills_bring_no_memory_in)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(1 << 20, false);

    packed_insert_value(packed, 1);
    const long before = resident_pages();

    for (uint64_t index = 5; index < 1 << 20; index += 64) { /* four in each page of slots */
        const haft_id id = {index | UINT64_C(1) << 32};

        must(haft_packed_free(packed, id) == HAFT_NEVER_ISSUED);
        must(haft_packed_kill(packed, id) == HAFT_NEVER_ISSUED);
        must(haft_packed_resolve(haft_packed_view(packed), id) == NULL);
    }
    cr_expect(lt(long, pages_written_since(before), 1000)); /* of 4096 */
}

Test(packed_memory, a_fixed_table_beyond_a_limit_does_not_open)
{
    const haft_packed_options options = {
        .capacity = 1 << 20, .object_size = 1024, .growth_step = HAFT_PACKED_FIXED};
    haft_packed *packed = NULL;

    limit_data(64 * MIB);
    expect_status(haft_packed_open(&options, &packed), HAFT_NO_MEMORY);
    cr_expect(eq(ptr, packed, NULL));
}

Test(packed_memory, a_growing_table_beyond_a_limit_grows_as_far_as_it_goes_and_works_on)
{
    static const uint64_t steps[] = {0, 1000};
    static haft_id ids[1 << 17];

    limit_data(64 * MIB);
    for (int s = 0; s < 2; s++) {
        const haft_packed_options options = {
            .capacity = 1 << 20, .object_size = 1024, .growth_step = steps[s]};
        AT_END(packed_end) haft_packed *packed = packed_open(&options);
        uint64_t count = 0;
        uint64_t seed = 5;

        while (haft_packed_insert(packed, NULL, &ids[count]) == HAFT_OK) {
            count++;
            must(count < 1 << 17);
        }
        expect_status(haft_packed_insert(packed, NULL, &ids[count]), HAFT_NO_MEMORY);
        cr_expect(le(u64, 10000, count));
        cr_expect(eq(u64, haft_packed_count(packed), count));
        memset(haft_packed_objects(packed), 0xff, count * 1024);
        packed_must_be_sound(packed, 1024);
        for (int n = 0; n < 100000; n++) { /* a forged id into memory that is not writable yet */
            const haft_id id = {random_next(&seed)};

            must(haft_packed_resolve(haft_packed_view(packed), id) == NULL);
            must(haft_packed_kill(packed, id) != HAFT_OK);
        }
        for (uint64_t i = 0; i < count; i++) { /* killing needs no memory that may be refused */
            must(haft_packed_kill(packed, ids[i]) == HAFT_OK);
        }
        must(haft_packed_refresh(packed) == HAFT_OK);
        for (uint64_t i = 0; i < count; i++) {
            must(haft_packed_insert(packed, NULL, &ids[i]) == HAFT_OK);
        }
    }
}

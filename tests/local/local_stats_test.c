/* The statistics of a table of one thread. */
#include "tests/base/counted.h"
#include "tests/support.h"

TestSuite(local_stats, .timeout = SUITE_SECONDS);

#define SLOTS 20000 /* more than fit into the heap, and than what no trim releases */

/* Every slot ever used is in exactly one of them. */
static void must_add_up(const haft_local *local)
{
    const haft_local_stats stats = haft_local_stats_get(local);

    must(stats.live + stats.reserved + stats.retired + stats.free + stats.exhausted +
             stats.released ==
         stats.high_water);
    must(stats.live == haft_local_count(local));
    must(stats.high_water <= stats.limit);
}

static void count_retired(void *object, haft_id id, void *arg)
{
    haft_local *const *local = arg;
    const haft_local_stats stats = haft_local_stats_get(*local);

    cr_expect(eq(u64, stats.retired, 1));
    cr_expect(eq(u64, stats.reserved, 1));
    must_add_up(*local);
}

Test(local_stats, reserved_and_retired_are_told_apart)
{
    AT_END(local_end) haft_local *local;
    haft_id id;
    haft_id reserved;

    local = local_open(
        &(haft_local_options){.capacity = 10, .on_destroy = count_retired, .destroy_arg = &local});
    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    assert_status(haft_local_reserve(local, &reserved, NULL), HAFT_OK);
    assert_status(haft_local_free(local, id), HAFT_OK);
    const haft_local_stats stats = haft_local_stats_get(local);

    cr_expect(eq(u64, stats.retired, 0));
    cr_expect(eq(u64, stats.reserved, 1));
    cr_expect(eq(u64, stats.free, 1));
    cr_expect(eq(u64, stats.high_water, 2));
    cr_expect(eq(u64, stats.capacity, 10));
    cr_expect(eq(u64, stats.limit, 10));
}

Test(local_stats, min_free_is_in_the_limit)
{
    haft_local *local =
        local_open(&(haft_local_options){.capacity = 10, .reuse = HAFT_REUSE_FIFO, .min_free = 7});

    cr_expect(eq(u64, haft_local_stats_get(local).limit, 17));
    haft_local_close(local);
}

Test(local_stats, bytes_grow_with_slots_used_and_fall_by_what_a_trim_releases)
{
    static haft_id ids[SLOTS];
    haft_local *local = local_open(&(haft_local_options){.capacity = SLOTS, .object_size = 24});
    const uint64_t before = haft_local_stats_get(local).bytes;
    uint64_t released;

    cr_expect(lt(u64, before, 4096));
    local_insert_each(local, ids, SLOTS);
    cr_expect(eq(u64, haft_local_stats_get(local).bytes, before + 32 * SLOTS));
    local_free_each(local, ids, SLOTS);
    assert_status(haft_local_trim(local, &released), HAFT_OK);
    const haft_local_stats stats = haft_local_stats_get(local);

    cr_expect(eq(u64, stats.released, released / 32));
    cr_expect(ge(u64, stats.bytes, before + 32 * SLOTS - released)); /* a record for each run */
    cr_expect(le(u64, stats.bytes, before + 32 * SLOTS - released + SLOTS));
    haft_local_close(local);
}

Test(local_stats, in_the_heap_all_slots_are_in_use_from_the_first_on)
{
    haft_local *local = local_open(&(haft_local_options){.capacity = 100, .object_size = 24});
    haft_id id;

    const uint64_t before = haft_local_stats_get(local).bytes;
    cr_expect(ge(u64, before, 128 * 32));
    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    cr_expect(eq(u64, haft_local_stats_get(local).bytes, before));
    haft_local_close(local);
}

Test(local_stats, in_the_heap_the_bytes_are_those_of_the_allocator)
{
    for (size_t alignment = 8; alignment <= 64; alignment *= 8) {
        struct counted counted = {.left = -1};
        const haft_allocator from = counted_allocator(&counted);
        AT_END(local_end)
        haft_local *local = local_open(&(haft_local_options){.capacity = 60,
                                                             .object_size = 24,
                                                             .object_alignment = alignment,
                                                             .name = "theirs",
                                                             .allocator = &from});

        cr_expect(eq(u64, haft_local_stats_get(local).bytes, counted.held));
    }
}

Test(local_stats, sites_are_among_the_bytes)
{
    haft_local *plain = local_open(&(haft_local_options){.capacity = 1000});
    haft_local *sites = local_open(&(haft_local_options){.capacity = 1000, .sites = true});

    cr_expect(
        eq(u64, haft_local_stats_get(sites).bytes, haft_local_stats_get(plain).bytes + 1024 * 16));
    haft_local_close(plain);
    haft_local_close(sites);
}

static void add_up(void *object, haft_id id, void *arg)
{
    haft_local *const *local = arg;

    must_add_up(*local);
}

Test(local_stats, each_slot_is_counted_once_whatever_happens)
{
    static haft_id ids[SLOTS];
    AT_END(local_end) haft_local *local;
    uint64_t state = 1;
    int count = 0;

    local = local_open(&(haft_local_options){.capacity = SLOTS,
                                             .object_size = 24,
                                             .layout = HAFT_LAYOUT_OF(20, 2, 0),
                                             .on_destroy = add_up,
                                             .destroy_arg = &local});
    for (int step = 0; step < 200000; step++) {
        const uint64_t drawn = random_next(&state);

        if (drawn % 2000 == 0) {
            must(haft_local_trim(local, NULL) == HAFT_OK);
        } else if (drawn % 5 < 3 && count < SLOTS) {
            count += haft_local_insert(local, NULL, &ids[count]) == HAFT_OK;
        } else if (count != 0) {
            const int at = (int)(drawn / 5 % (uint64_t)count);

            must(haft_local_free(local, ids[at]) == HAFT_OK);
            ids[at] = ids[--count];
        }
        must_add_up(local);
    }
}

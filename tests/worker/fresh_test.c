/* White-box: extents that adjoin.  Of a thread that has just drawn one, the extent begins where
 * another's ends, and no slot between them is in use. */
#include "concurrent/worker/fresh.h"
#include "tests/support.h"
#include <haft/scan.h>

TestSuite(fresh_slots, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 100000, .object_size = 8};

static void give(haft_worker *worker, haft_range range)
{
    fresh_give(worker, range.from, range.to - range.from, false);
}

static void expect_passed_over(haft_worker *lower, haft_worker *upper, haft_range both)
{
    const haft_range before[] = {fresh_range(lower), fresh_range(upper)};
    const uint64_t middle = (both.from + both.to) / 2;

    give(lower, HAFT_RANGE(both.from, middle));
    give(upper, HAFT_RANGE(middle, both.to));
    const haft_range used = haft_used_range(lower->table, HAFT_RANGE(both.from, UINT64_MAX));

    cr_expect(eq(u64, used.from, both.to));
    cr_expect(lt(u64, used.from, used.to));
    give(lower, before[0]);
    give(upper, before[1]);
}

Test(fresh_slots, of_extents_that_adjoin_are_passed_over_together)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);

    insert(shared.worker);
    insert(other); /* in the slots behind the first worker's extent */
    const haft_range both = fresh_range(shared.worker);

    must(both.to - both.from >= 2);
    expect_passed_over(shared.worker, other, both);
    expect_passed_over(other, shared.worker, both);
}

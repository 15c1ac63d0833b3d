/* The system refuses memory while a counted table is used. */
#include "tests/base/faults.h"
#include <haft/counted.h>
#include <limits.h>

TestSuite(counted_failing, .timeout = SUITE_SECONDS);

FAULTS_OPEN(open_counted, haft_counted,
            haft_counted_open(
                &(haft_counted_options){.capacity = 10000000, .object_size = 8, .min_free = 5},
                &made))

static void close_counted(void *opened)
{
    must(haft_counted_close(opened) == HAFT_OK);
}

Test(counted_failing, opening_with_min_free_answers_no_memory_and_leaves_nothing_behind)
{
    fail_each_both_ways(open_counted, close_counted);
    expect_no_leaks();
}

Test(counted_failing, an_insertion_without_memory_leaves_the_table_as_it_was)
{
    haft_counted *table;
    haft_id id = {5};
    uint64_t live = 0;

    faults.strict = true;
    for (uint64_t min_free = 0; min_free < 2; min_free++) {
        const haft_counted_options options = {
            .capacity = 1000000, .object_size = 1000, .min_free = min_free};
        haft_status status;

        live = 0;
        assert_status(haft_counted_open(&options, &table), HAFT_OK);
        fail_calls(1, INT_MAX);
        while ((status = haft_counted_insert(table, NULL, &id)) == HAFT_OK) {
            live++;
        }
        expect_status(status, HAFT_NO_MEMORY);
        cr_expect(eq(u64, haft_counted_stats_get(table).live, live));
        expect_status(haft_counted_insert(table, NULL, &id), HAFT_NO_MEMORY);
        cr_expect(eq(u64, haft_counted_stats_get(table).high_water, live));
        fail_calls(0, -1);
        expect_status(haft_counted_insert(table, NULL, &id), HAFT_OK);
        expect_status(haft_counted_close(table), HAFT_OK);
    }
}

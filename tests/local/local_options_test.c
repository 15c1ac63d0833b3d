/* haft_local's own options: what is refused, and by which name.  The others: options_test.c. */
#include "tests/support.h"

TestSuite(local_options, .timeout = SUITE_SECONDS);

static void expect_open(haft_local_options options, haft_status expected)
{
    haft_local *const untouched = (haft_local *)(void *)&options;
    haft_local *local = untouched;

    cr_expect(eq(int, haft_local_open(&options, &local), expected));
    if (local != untouched) {
        haft_local_close(local);
    }
    cr_expect(eq(int, local != untouched, expected == HAFT_OK));
    expect_no_leaks();
}

Test(local_options, an_unknown_order_of_reuse_is_refused)
{
    expect_open((haft_local_options){.capacity = 1, .reuse = (haft_local_reuse)2}, HAFT_BAD_REUSE);
    expect_open((haft_local_options){.capacity = 1, .reuse = (haft_local_reuse)-1}, HAFT_BAD_REUSE);
    expect_open((haft_local_options){.capacity = 1, .reuse = HAFT_REUSE_FIFO}, HAFT_OK);
}

Test(local_options, min_free_without_fifo_is_refused)
{
    expect_open((haft_local_options){.capacity = 1, .min_free = 1}, HAFT_BAD_MIN_FREE);
    expect_open((haft_local_options){.capacity = 1, .min_free = 1, .reuse = HAFT_REUSE_FIFO},
                HAFT_OK);
}

Test(local_options, min_free_and_capacity_must_fit_the_index_bits_together)
{
    haft_local_options options = {
        .capacity = 5, .layout = {4, 4, 0}, .reuse = HAFT_REUSE_FIFO, .min_free = 7};

    expect_open(options, HAFT_OK);
    options.min_free = 8;
    expect_open(options, HAFT_BAD_MIN_FREE);
    options.min_free = UINT64_MAX;
    expect_open(options, HAFT_BAD_MIN_FREE);
    options.min_free = UINT64_MAX - 4;
    expect_open(options, HAFT_BAD_MIN_FREE);
    options.capacity = 12;
    options.min_free = 1;
    expect_open(options, HAFT_BAD_MIN_FREE);
    options.min_free = 0;
    expect_open(options, HAFT_OK);
}

Test(local_options, a_bad_option_of_all_tables_is_named_first)
{
    expect_open((haft_local_options){.capacity = 0, .min_free = 1}, HAFT_BAD_CAPACITY);
    expect_open((haft_local_options){.capacity = 5, .layout = {2, 1, 0}, .min_free = 1},
                HAFT_BAD_LAYOUT);
}

Test(local_options, wrap_works_on_every_layout)
{
    for (int i = 0; i < LAYOUTS; i++) {
        expect_open((haft_local_options){.capacity = 4, .layout = layouts[i], .wrap = true},
                    HAFT_OK);
    }
}

Test(local_options, bad_ones_are_told_from_a_lack_of_address_space)
{
    haft_local_options huge = {.capacity = UINT64_C(1) << 31, .object_size = UINT64_C(1) << 30};
    haft_local *local = NULL;

    huge.min_free = UINT64_C(1) << 31;
    cr_expect(eq(int, haft_local_open(&huge, &local), HAFT_BAD_MIN_FREE));
    huge.min_free = 0;
    huge.reuse = (haft_local_reuse)7;
    cr_expect(eq(int, haft_local_open(&huge, &local), HAFT_BAD_REUSE));
    huge.reuse = HAFT_REUSE_FIFO;
    huge.min_free = UINT64_MAX;
    cr_expect(eq(int, haft_local_open(&huge, &local), HAFT_BAD_MIN_FREE));
    cr_expect(eq(ptr, local, NULL));
}

/* Statuses in words. */
#include "tests/support.h"
#include <string.h>

TestSuite(status, .timeout = SUITE_SECONDS);

Test(status, ok_is_zero)
{
    cr_expect(eq(int, HAFT_OK, 0));
}

Test(status, every_text_is_a_sentence_without_full_stop)
{
    for (int status = HAFT_OK; status < HAFT_STATUS_COUNT; status++) {
        const char *text = haft_status_text((haft_status)status);

        cr_assert(ne(ptr, (void *)text, NULL));
        cr_expect(gt(sz, strlen(text), 1));
        cr_expect(ne(chr, text[strlen(text) - 1], '.'));
        cr_expect(ne(str, (char *)text, "unknown status"));
    }
}

Test(status, no_two_have_the_same_text_or_name)
{
    for (int a = HAFT_OK; a < HAFT_STATUS_COUNT; a++) {
        for (int b = a + 1; b < HAFT_STATUS_COUNT; b++) {
            cr_expect(ne(str, (char *)haft_status_text((haft_status)a),
                         (char *)haft_status_text((haft_status)b)));
            cr_expect(ne(str, (char *)haft_status_name((haft_status)a),
                         (char *)haft_status_name((haft_status)b)));
        }
    }
}

#define expect_name(status) cr_expect(eq(str, (char *)haft_status_name(status), #status))

Test(status, name_of_what_is_said_of_an_id_is_the_enumerator)
{
    expect_name(HAFT_OK);
    expect_name(HAFT_NO_ID);
    expect_name(HAFT_MALFORMED);
    expect_name(HAFT_FOREIGN);
    expect_name(HAFT_NEVER_ISSUED);
    expect_name(HAFT_RESERVED);
    expect_name(HAFT_STALE);
    expect_name(HAFT_EXHAUSTED);
    expect_name(HAFT_DEAD);
}

Test(status, name_of_a_failure_is_the_enumerator)
{
    expect_name(HAFT_FULL);
    expect_name(HAFT_BUSY);
    expect_name(HAFT_NO_MEMORY);
    expect_name(HAFT_NO_THREAD);
    expect_name(HAFT_NO_FILE);
    expect_name(HAFT_USED_UP);
    expect_name(HAFT_IN_USE);
    expect_name(HAFT_IN_SECTION);
    expect_name(HAFT_WRONG_CLOCK);
    expect_name(HAFT_NOT_PINNED);
    expect_name(HAFT_SAME_KEY);
    expect_name(HAFT_LOADING);
    expect_name(HAFT_OUT_OF_RANGE);
    expect_name(HAFT_OCCUPIED);
    expect_name(HAFT_WRONG_TYPE);
    expect_name(HAFT_IN_CALLBACK);
    expect_name(HAFT_FORKED);
}

Test(status, name_of_a_bad_option_is_the_enumerator)
{
    expect_name(HAFT_BAD_LAYOUT);
    expect_name(HAFT_BAD_CAPACITY);
    expect_name(HAFT_BAD_OBJECT_SIZE);
    expect_name(HAFT_BAD_OBJECT_ALIGNMENT);
    expect_name(HAFT_BAD_TAG);
    expect_name(HAFT_BAD_FIRST_GENERATION);
    expect_name(HAFT_BAD_REUSE);
    expect_name(HAFT_BAD_MIN_FREE);
    expect_name(HAFT_BAD_PINS);
    expect_name(HAFT_BAD_RESTORE_RANGE);
    expect_name(HAFT_BAD_WARN_AT);
    expect_name(HAFT_BAD_FOREIGN_CLOCK);
    expect_name(HAFT_BAD_CLOCK);
    expect_name(HAFT_BAD_BLOCK_SIZE);
    expect_name(HAFT_BAD_MAX_BLOCK_SIZE);
    expect_name(HAFT_BAD_BUFFER_SIZE);
    expect_name(HAFT_BAD_DIRECTORY);
    expect_name(HAFT_BAD_INTERVAL_MS);
}

#undef expect_name

Test(status, text_of_a_bad_option_begins_with_its_name)
{
    static const struct {
        haft_status status;
        const char *option;
    } bad[] = {
        {HAFT_BAD_LAYOUT, "layout"},
        {HAFT_BAD_CAPACITY, "capacity"},
        {HAFT_BAD_OBJECT_SIZE, "object_size"},
        {HAFT_BAD_OBJECT_ALIGNMENT, "object_alignment"},
        {HAFT_BAD_TAG, "tag"},
        {HAFT_BAD_FIRST_GENERATION, "first_generation"},
        {HAFT_BAD_REUSE, "reuse"},
        {HAFT_BAD_MIN_FREE, "min_free"},
        {HAFT_BAD_PINS, "pins"},
        {HAFT_BAD_RESTORE_RANGE, "restore_range"},
        {HAFT_BAD_WARN_AT, "warn_at"},
        {HAFT_BAD_FOREIGN_CLOCK, "foreign_clock"},
        {HAFT_BAD_CLOCK, "clock"},
        {HAFT_BAD_BLOCK_SIZE, "block_size"},
        {HAFT_BAD_MAX_BLOCK_SIZE, "max_block_size"},
        {HAFT_BAD_BUFFER_SIZE, "buffer_size"},
        {HAFT_BAD_DIRECTORY, "directory"},
        {HAFT_BAD_INTERVAL_MS, "interval_ms"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *text = haft_status_text(bad[i].status);

        cr_expect(zero(int, strncmp(text, bad[i].option, strlen(bad[i].option))), "%s", text);
    }
}

Test(status, other_numbers_are_unknown)
{
    const haft_status others[] = {HAFT_STATUS_COUNT, (haft_status)(HAFT_STATUS_COUNT + 1),
                                  (haft_status)-1, (haft_status)0x7fffffff};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        cr_expect(eq(str, (char *)haft_status_text(others[i]), "unknown status"));
        cr_expect(eq(str, (char *)haft_status_name(others[i]), "HAFT_?"));
    }
}

/* Statuses in words. */
#include "tests/support.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

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
        cr_expect(lt(sz, 1, strlen(text)));
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

#define NAME(status) [status] = #status

static const char *const names[HAFT_STATUS_COUNT] = {
    NAME(HAFT_OK),
    NAME(HAFT_NO_ID),
    NAME(HAFT_MALFORMED),
    NAME(HAFT_FOREIGN),
    NAME(HAFT_NEVER_ISSUED),
    NAME(HAFT_RESERVED),
    NAME(HAFT_STALE),
    NAME(HAFT_EXHAUSTED),
    NAME(HAFT_DEAD),
    NAME(HAFT_FULL),
    NAME(HAFT_BUSY),
    NAME(HAFT_NO_MEMORY),
    NAME(HAFT_NO_THREAD),
    NAME(HAFT_NO_FILE),
    NAME(HAFT_USED_UP),
    NAME(HAFT_IN_USE),
    NAME(HAFT_IN_SECTION),
    NAME(HAFT_WRONG_CLOCK),
    NAME(HAFT_NOT_PINNED),
    NAME(HAFT_NOT_HELD),
    NAME(HAFT_CLOSED),
    NAME(HAFT_SAME_KEY),
    NAME(HAFT_LOADING),
    NAME(HAFT_OUT_OF_RANGE),
    NAME(HAFT_OCCUPIED),
    NAME(HAFT_DAMAGED),
    NAME(HAFT_OTHER_TABLE),
    NAME(HAFT_WRONG_TYPE),
    NAME(HAFT_IN_CALLBACK),
    NAME(HAFT_FORKED),
    NAME(HAFT_UNKNOWN_OPTION),
    NAME(HAFT_BAD_LAYOUT),
    NAME(HAFT_BAD_CAPACITY),
    NAME(HAFT_BAD_OBJECT_SIZE),
    NAME(HAFT_BAD_OBJECT_ALIGNMENT),
    NAME(HAFT_BAD_TAG),
    NAME(HAFT_BAD_FIRST_GENERATION),
    NAME(HAFT_BAD_REUSE),
    NAME(HAFT_BAD_MIN_FREE),
    NAME(HAFT_BAD_PINS),
    NAME(HAFT_BAD_WAITING_BYTES),
    NAME(HAFT_BAD_FOREIGN_CLOCK),
    NAME(HAFT_BAD_CLOCK),
    NAME(HAFT_BAD_BLOCK_SIZE),
    NAME(HAFT_BAD_MAX_BLOCK_SIZE),
    NAME(HAFT_BAD_BUFFER_SIZE),
    NAME(HAFT_BAD_DIRECTORY),
    NAME(HAFT_BAD_INTERVAL_MS),
    NAME(HAFT_BAD_VALUE_SIZE),
    NAME(HAFT_BAD_VALUE_ALIGNMENT),
    NAME(HAFT_BAD_WRAP),
    NAME(HAFT_BAD_ON_END),
    NAME(HAFT_BAD_COPIES),
    NAME(HAFT_BAD_KEEP),
};

Test(status, name_is_the_enumerator)
{
    for (int status = HAFT_OK; status < HAFT_STATUS_COUNT; status++) {
        cr_assert(ne(ptr, (void *)names[status], NULL), "%d", status);
        cr_expect(eq(str, (char *)haft_status_name((haft_status)status), (char *)names[status]));
    }
}

Test(status, text_of_a_bad_option_begins_with_its_name)
{
    for (int status = HAFT_OK; status < HAFT_STATUS_COUNT; status++) {
        const char *text = haft_status_text((haft_status)status);

        if (strncmp(names[status], "HAFT_BAD_", 9) == 0) {
            cr_expect(zero(int, strncasecmp(text, names[status] + 9, strlen(names[status] + 9))),
                      "%s", text);
            cr_expect(ne(int, islower((unsigned char)text[0]), 0));
        }
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

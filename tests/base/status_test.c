/* Statuses in words. */
#include "tests/support.h"
#include <ctype.h>
#include <haft/kit/arena.h>
#include <string.h>
#include <strings.h>

TestSuite(status, .timeout = SUITE_SECONDS);

Test(status, ok_is_zero)
{
    cr_expect(eq(int, HAFT_OK, 0));
}

#define NAME(status) [status] = #status

static const char *const names[] = {
    NAME(HAFT_OK),
    NAME(HAFT_NO_ID),
    NAME(HAFT_MALFORMED),
    NAME(HAFT_FOREIGN),
    NAME(HAFT_NEVER_ISSUED),
    NAME(HAFT_RESERVED),
    NAME(HAFT_STALE),
    NAME(HAFT_EXHAUSTED),
    NAME(HAFT_FULL),
    NAME(HAFT_BUSY),
    NAME(HAFT_NO_MEMORY),
    NAME(HAFT_NO_THREAD),
    NAME(HAFT_IN_USE),
    NAME(HAFT_IN_SECTION),
    NAME(HAFT_WRONG_CLOCK),
    NAME(HAFT_NOT_PINNED),
    NAME(HAFT_NOT_HELD),
    NAME(HAFT_CLOSED),
    NAME(HAFT_LOADING),
    NAME(HAFT_OUT_OF_RANGE),
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
    NAME(HAFT_BAD_WRAP),
    NAME(HAFT_BAD_COPIES),

    NAME(HAFT_DEAD),
    NAME(HAFT_NO_FILE),
    NAME(HAFT_USED_UP),
    NAME(HAFT_SAME_KEY),
    NAME(HAFT_OCCUPIED),
    NAME(HAFT_DAMAGED),
    NAME(HAFT_OTHER_TABLE),
    NAME(HAFT_BAD_BLOCK_SIZE),
    NAME(HAFT_BAD_MAX_BLOCK_SIZE),
    NAME(HAFT_BAD_BUFFER_SIZE),
    NAME(HAFT_BAD_DIRECTORY),
    NAME(HAFT_BAD_INTERVAL_MS),
    NAME(HAFT_BAD_VALUE_SIZE),
    NAME(HAFT_BAD_VALUE_ALIGNMENT),
    NAME(HAFT_BAD_ON_END),
    NAME(HAFT_BAD_KEEP),
};

#define STATUSES (sizeof names / sizeof names[0])

/* The kit answers with one of its statuses. */
static haft_status kit_answers(void)
{
    const haft_arena_options options = {.block_size = SIZE_MAX};
    haft_arena *arena;

    return haft_arena_open(&options, &arena);
}

static bool is_status(size_t number)
{
    return number < HAFT_STATUS_COUNT || number >= (size_t)HAFT_DEAD;
}

Test(status, name_is_the_one_in_the_source)
{
    cr_assert(eq(int, kit_answers(), HAFT_BAD_BLOCK_SIZE));
    for (size_t number = 0; number < STATUSES; number++) {
        if (is_status(number)) {
            cr_assert(ne(ptr, (void *)names[number], NULL), "%zu", number);
            cr_expect(
                eq(str, (char *)haft_status_name((haft_status)number), (char *)names[number]));
        }
    }
}

Test(status, every_text_is_a_sentence_without_full_stop)
{
    cr_assert(eq(int, kit_answers(), HAFT_BAD_BLOCK_SIZE));
    for (size_t number = 0; number < STATUSES; number++) {
        const char *text = haft_status_text((haft_status)number);

        cr_assert(ne(ptr, (void *)text, NULL));
        cr_expect(lt(sz, 1, strlen(text)));
        cr_expect(ne(chr, text[strlen(text) - 1], '.'));
        cr_expect(eq(int, strcmp(text, "unknown status") != 0, is_status(number)), "%zu", number);
    }
}

Test(status, no_two_have_the_same_text)
{
    cr_assert(eq(int, kit_answers(), HAFT_BAD_BLOCK_SIZE));
    for (size_t a = 0; a < STATUSES; a++) {
        for (size_t b = a + 1; b < STATUSES && is_status(a); b++) {
            cr_expect(ne(str, (char *)haft_status_text((haft_status)a),
                         (char *)haft_status_text((haft_status)b)));
        }
    }
}

Test(status, text_of_a_bad_option_begins_with_its_name)
{
    cr_assert(eq(int, kit_answers(), HAFT_BAD_BLOCK_SIZE));
    for (size_t number = 0; number < STATUSES; number++) {
        const char *text = haft_status_text((haft_status)number);

        if (is_status(number) && strncmp(names[number], "HAFT_BAD_", 9) == 0) {
            cr_expect(zero(int, strncasecmp(text, names[number] + 9, strlen(names[number] + 9))),
                      "%s", text);
            cr_expect(ne(int, islower((unsigned char)text[0]), 0));
        }
    }
}

/* Compilers know all of them as values of the type. */
static const char *text_of(haft_status status)
{
    switch (status) {
    case HAFT_OK:
        return "core";
    case HAFT_DEAD:
    case HAFT_BAD_KEEP:
        return "kit";
    default:
        return "other";
    }
}

Test(status, of_the_kit_are_values_of_the_type)
{
    cr_expect(eq(str, (char *)text_of(HAFT_BAD_KEEP), "kit"));
    cr_expect(eq(int, HAFT_DEAD, 100));
    cr_expect(eq(int, HAFT_BAD_KEEP, 115));
}

Test(status, other_numbers_are_unknown)
{
    const haft_status others[] = {HAFT_STATUS_COUNT, (haft_status)(HAFT_STATUS_COUNT + 1),
                                  (haft_status)99,   (haft_status)(HAFT_BAD_KEEP + 1),
                                  (haft_status)-1,   (haft_status)0x7fffffff};

    cr_assert(eq(int, kit_answers(), HAFT_BAD_BLOCK_SIZE));

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        cr_expect(eq(str, (char *)haft_status_text(others[i]), "unknown status"));
        cr_expect(eq(str, (char *)haft_status_name(others[i]), "HAFT_?"));
    }
}

/* White-box: lines of text, where no table has such times and lengths in a test. */
#include "lib/base/text.h"
#include "tests/support.h"
#include <limits.h>

TestSuite(text, .timeout = SUITE_SECONDS);

static char line[64];

static void expect_time(uint64_t ns, const char *expected)
{
    struct text text = text_in(line, sizeof line);

    text_add_time(&text, ns);
    cr_expect(eq(str, line, (char *)expected));
}

Test(text, times_have_two_or_three_digits)
{
    expect_time(0, "0 ms");
    expect_time(UINT64_C(350) * 1000 * 1000, "350 ms");
    expect_time(UINT64_C(999999999), "999 ms");
    expect_time(UINT64_C(1000000000), "1.0 s");
    expect_time(UINT64_C(1250000000), "1.2 s");
    expect_time(UINT64_C(65000000000), "65.0 s");
}

static void expect_count(uint64_t count, const char *expected)
{
    struct text text = text_in(line, sizeof line);

    text_add_count(&text, count);
    cr_expect(eq(str, line, (char *)expected));
}

Test(text, counts_have_a_comma_from_a_thousand_on)
{
    expect_count(0, "0");
    expect_count(999, "999");
    expect_count(1000, "1,000");
    expect_count(1000000, "1,000,000");
    expect_count(UINT64_MAX, "18,446,744,073,709,551,615");
}

Test(text, length_is_no_more_than_an_int_holds)
{
    struct text text = text_in(line, sizeof line);

    text_add(&text, "five5");
    cr_expect(eq(int, text_length(&text), 5));
    text.length = (size_t)INT_MAX + 1;
    cr_expect(eq(int, text_length(&text), INT_MAX));
}

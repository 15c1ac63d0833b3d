/* White-box: the warning before a table is full, and counts that are late. */
#include "lib/slots/fill.h"
#include "tests/support.h"

TestSuite(fill_look, .timeout = SUITE_SECONDS);

static int warnings;

static void warn(const haft_fill *fill, void *arg)
{
    (void)fill;
    (void)arg;
    warnings++;
}

static void look(struct fill *fill, uint64_t seen, uint64_t in_use)
{
    fill_look(fill, seen, "table", in_use, 20);
}

/* Two threads have counted 16 objects; the second comes when the first has warned, and the table
 * has emptied since. */
Test(fill_look, count_from_before_a_warning_does_not_warn_again)
{
    struct fill fill = {.warn_at = 16, .on_fill = warn};
    const uint64_t seen = fill_seen(&fill);

    look(&fill, seen, 16);
    cr_assert(eq(int, warnings, 1));
    look(&fill, fill_seen(&fill), 5); /* it may warn again */
    look(&fill, seen, 16);
    cr_expect(eq(int, warnings, 1));
    look(&fill, fill_seen(&fill), 16);
    cr_expect(eq(int, warnings, 2));
}

Test(fill_look, count_from_before_a_warning_does_not_end_it)
{
    struct fill fill = {.warn_at = 16, .on_fill = warn};
    const uint64_t seen = fill_seen(&fill);

    look(&fill, seen, 16);
    look(&fill, seen, 5);
    look(&fill, fill_seen(&fill), 17);
    cr_expect(eq(int, warnings, 1));
}

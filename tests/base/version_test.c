/*
 * version_test.c - the version in its three forms.
 */
#include "tests/support.h"
#include <haft/haft.h>
#include <stdio.h>

TestSuite(version, .timeout = SUITE_SECONDS);

Test(version, library_is_the_one_of_the_headers)
{
    cr_expect(eq(u32, haft_version(), HAFT_VERSION));
    cr_expect(eq(str, (char *)haft_version_text(), HAFT_VERSION_TEXT));
}

Test(version, number_and_text_are_made_of_the_three_parts)
{
    char text[32];

    snprintf(text, sizeof text, "%d.%d.%d", HAFT_VERSION_MAJOR, HAFT_VERSION_MINOR,
             HAFT_VERSION_PATCH);
    cr_expect(eq(str, text, HAFT_VERSION_TEXT));
    cr_expect(eq(u32, HAFT_VERSION,
                 HAFT_VERSION_MAJOR * 10000 + HAFT_VERSION_MINOR * 100 + HAFT_VERSION_PATCH));
}

/* Ids as text, both ways. */
#include "tests/support.h"
#include <stdio.h>
#include <string.h>

TestSuite(format, .timeout = SUITE_SECONDS);
TestSuite(parse, .timeout = SUITE_SECONDS);

static void expect_text(haft_layout layout, uint64_t bits, const char *expected)
{
    const haft_id id = {bits};
    char text[HAFT_ID_TEXT_SIZE];
    const int length = haft_id_format(layout, id, text, sizeof text);

    cr_expect(eq(str, text, (char *)expected));
    cr_expect(eq(int, length, (int)strlen(expected)));
}

Test(format, index_v_generation)
{
    expect_text(HAFT_LAYOUT_32_32, UINT64_C(3) << 32 | 17, "17v3");
    expect_text(HAFT_LAYOUT_32_32, UINT64_MAX, "4294967295v4294967295");
    expect_text(HAFT_LAYOUT_32_32, 5, "5v0");
}

Test(format, tag_where_the_layout_has_one)
{
    expect_text(HAFT_LAYOUT_32_24_8, UINT64_C(5) << 56 | UINT64_C(3) << 32 | 17, "17v3t5");
    expect_text(HAFT_LAYOUT_32_24_8, UINT64_C(3) << 32 | 17, "17v3t0");
}

Test(format, nil)
{
    for (int i = 0; i < LAYOUTS; i++) {
        expect_text(layouts[i], 0, "nil");
    }
}

Test(format, bits_above_the_layout_are_appended)
{
    expect_text(HAFT_LAYOUT_16_16, UINT64_C(0xab) << 32 | 3u << 16 | 17, "17v3+0xab00000000");
    expect_text(HAFT_LAYOUT_16_16, UINT64_C(1) << 63, "0v0+0x8000000000000000");
    expect_text(HAFT_LAYOUT_OF(8, 8, 8), 0x01050311, "17v3t5+0x1000000");
}

Test(format, a_short_buffer_cuts_the_text_and_tells_its_length)
{
    const haft_id id = haft_id_pack(HAFT_LAYOUT_32_32, 17, 3, 0);
    char text[8] = "~~~~~~~";

    cr_expect(eq(int, haft_id_format(HAFT_LAYOUT_32_32, id, text, 3), 4));
    cr_expect(eq(str, text, "17"));
    cr_expect(eq(chr, text[3], '~'));
    cr_expect(eq(int, haft_id_format(HAFT_LAYOUT_32_32, id, NULL, 0), 4));
    cr_expect(eq(int, haft_id_format(HAFT_LAYOUT_32_32, HAFT_NIL, text, 2), 3));
    cr_expect(eq(str, text, "n"));
}

Test(format, the_stated_size_suffices_for_every_layout)
{
    haft_layout layout = {0, 0, 0, 0};
    const haft_id all_ones = {UINT64_MAX};

    for (layout.index_bits = 3; layout.index_bits <= 32; layout.index_bits++) {
        for (layout.generation_bits = 1; layout.generation_bits <= 60; layout.generation_bits++) {
            const int rest = 64 - layout.index_bits - layout.generation_bits;

            for (int tag_bits = 0; tag_bits <= rest; tag_bits++) {
                layout.tag_bits = (uint8_t)tag_bits;
                must(haft_id_format(layout, all_ones, NULL, 0) < HAFT_ID_TEXT_SIZE);
            }
        }
    }
}

/* --- parse --- */

static void expect_round_trip(haft_layout layout, haft_id id)
{
    haft_id parsed = {~id.bits};
    char text[HAFT_ID_TEXT_SIZE];

    haft_id_format(layout, id, text, sizeof text);
    if (!haft_id_parse(layout, text, &parsed) || !haft_id_equal(parsed, id)) {
        cr_fatal("%s does not come back", text);
    }
}

Test(parse, gives_back_whatever_format_wrote)
{
    uint64_t seed = 1;

    for (int i = 0; i < LAYOUTS; i++) {
        expect_round_trip(layouts[i], HAFT_NIL);
        for (unsigned bit = 0; bit < 64; bit++) {
            expect_round_trip(layouts[i], (haft_id){UINT64_C(1) << bit});
            expect_round_trip(layouts[i], (haft_id){UINT64_MAX >> bit});
            expect_round_trip(layouts[i], (haft_id){UINT64_MAX << bit});
        }
        for (int n = 0; n < 2000; n++) {
            expect_round_trip(layouts[i], (haft_id){random_next(&seed)});
        }
    }
}

static void expect_refused(haft_layout layout, const char *text)
{
    haft_id id = {UINT64_C(0x5a5a5a5a5a5a5a5a)};

    cr_expect(not(haft_id_parse(layout, text, &id)), "\"%s\" was accepted", text);
    cr_expect(eq(u64, id.bits, UINT64_C(0x5a5a5a5a5a5a5a5a)), "\"%s\" wrote the id", text);
}

static const char *const hostile[] = {
    "",
    " ",
    "n",
    "ni",
    "nill",
    "nil ",
    " nil",
    "NIL",
    "17",
    "v",
    "17v",
    "v3",
    "17V3",
    "17v3 ",
    " 17v3",
    "17 v3",
    "17v 3",
    "+17v3",
    "-17v3",
    "17v-3",
    "17v+3",
    "0x11v3",
    "17v0x3",
    "17v3v3",
    "17v3t5",
    "17v3t",
    "17v3+",
    "17v3+0",
    "17v3+0x",
    "17v3+0xg",
    "17v3+0X1",
    "17v3-0x1",
    "17v3+0x1x",
    "17v3+1",
    "17v3.0",
    "17v3\n",
    "1e1v3",
    "17,000v3",
    "\xd9\xa1v3",
    "17v3+0x+1",
    "65536v3",
    "17v65536",
    "17v3+0x1",
    "99999999999999999999999999v3",
    "17v99999999999999999999999999",
    "18446744073709551633v3",
    "17v18446744073709551619",
    "17v3+0x10000000100000000",
    "17v3+0xAB00000000",
    "17v3+0xffffffffffffffff",
    "17v3+0x80000000",
};

Test(parse, hostile_texts_are_refused_and_leave_the_id_alone)
{
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        expect_refused(HAFT_LAYOUT_16_16, hostile[i]);
    }
}

Test(parse, the_tag_is_required_where_the_layout_has_one)
{
    expect_refused(HAFT_LAYOUT_32_24_8, "17v3");
    expect_refused(HAFT_LAYOUT_32_24_8, "17v3t");
    expect_refused(HAFT_LAYOUT_32_24_8, "17v3t256");
    expect_refused(HAFT_LAYOUT_32_24_8, "17v3t-1");
    expect_refused(HAFT_LAYOUT_32_24_8, "17v16777216t5");
    expect_refused(HAFT_LAYOUT_32_24_8, "4294967296v3t5");
}

Test(parse, each_field_at_its_largest_value)
{
    haft_id id = HAFT_NIL;

    cr_expect(haft_id_parse(HAFT_LAYOUT_32_24_8, "4294967295v16777215t255", &id));
    cr_expect(eq(u64, id.bits, UINT64_MAX));
    cr_expect(haft_id_parse(HAFT_LAYOUT_OF(3, 60, 1), "7v1152921504606846975t1", &id));
    cr_expect(eq(u64, id.bits, UINT64_MAX));
    expect_refused(HAFT_LAYOUT_OF(3, 60, 1), "7v1152921504606846976t1");
    expect_refused(HAFT_LAYOUT_OF(3, 60, 1), "8v1152921504606846975t1");
    expect_refused(HAFT_LAYOUT_OF(3, 60, 1), "7v1152921504606846975t2");
}

static void expect_only_exact_form(haft_layout layout, const char *text)
{
    haft_id id;
    char again[HAFT_ID_TEXT_SIZE];

    if (haft_id_parse(layout, text, &id)) {
        haft_id_format(layout, id, again, sizeof again);
        cr_expect(eq(str, again, (char *)text));
    }
}

Test(parse, forms_that_format_never_writes_are_refused)
{
    static const char *const loose[] = {
        "017v3",
        "17v03",
        "00v0",
        "0v0",
        "17v3+0x0",
        "17v3+0x00",
        "17v3+0x000100000000",
        "000000000000000000000000017v3",
    };

    for (size_t i = 0; i < sizeof loose / sizeof loose[0]; i++) {
        expect_only_exact_form(HAFT_LAYOUT_16_16, loose[i]);
    }
    expect_only_exact_form(HAFT_LAYOUT_32_24_8, "17v3t05");
    expect_only_exact_form(HAFT_LAYOUT_32_24_8, "0v0t0");
}

Test(parse, a_text_changed_in_one_place_is_refused_or_another_id)
{
    static const char alphabet[] = "0123456789vtnilx+af -";
    char text[HAFT_ID_TEXT_SIZE] = "170v300t5";
    uint64_t seed = 7;

    for (int n = 0; n < 200000; n++) {
        char changed[HAFT_ID_TEXT_SIZE];
        haft_id id = HAFT_NIL;

        memcpy(changed, text, sizeof text);
        changed[random_next(&seed) % 9] = alphabet[random_next(&seed) % (sizeof alphabet - 1)];
        if (strcmp(changed, text) != 0 && haft_id_parse(HAFT_LAYOUT_OF(10, 10, 3), changed, &id)) {
            must(!haft_id_equal(id, haft_id_pack(HAFT_LAYOUT_OF(10, 10, 3), 170, 300, 5)));
        }
    }
}

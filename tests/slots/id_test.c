/* Ids: fields, layouts, 32-bit forms. */
#include "tests/support.h"

TestSuite(id, .timeout = SUITE_SECONDS);
TestSuite(layout, .timeout = SUITE_SECONDS);

/* 0, 1, single bits, all but single bits, and the largest value of a field. */
static uint64_t edge(unsigned bits, unsigned n)
{
    const uint64_t max = haft_field_max(bits);

    return n < bits ? UINT64_C(1) << n : n < 2 * bits ? max ^ UINT64_C(1) << (n - bits) : max;
}

static void expect_round_trip(haft_layout layout, uint64_t index, uint64_t generation, uint64_t tag)
{
    const haft_id id = haft_id_pack(layout, index, generation, tag);

    must(haft_id_index(layout, id) == index);
    must(haft_id_generation(layout, id) == generation);
    must(haft_id_tag(layout, id) == tag);
    must(haft_id_is_nil(id) == (index == 0 && generation == 0 && tag == 0));
}

static void expect_edges_round_trip(haft_layout layout)
{
    for (unsigned i = 0; i <= 2u * layout.index_bits; i++) {
        for (unsigned g = 0; g <= 2u * layout.generation_bits; g++) {
            for (unsigned t = 0; t <= 2u * layout.tag_bits; t++) {
                expect_round_trip(layout, edge(layout.index_bits, i),
                                  edge(layout.generation_bits, g), edge(layout.tag_bits, t));
            }
        }
    }
}

Test(id, every_layout_packs_and_unpacks_its_edges)
{
    haft_layout layout = {0, 0, 0, 0};

    for (int i = 0; i < LAYOUTS; i++) {
        expect_edges_round_trip(layouts[i]);
    }
    for (layout.index_bits = 3; layout.index_bits <= 32; layout.index_bits++) {
        for (layout.generation_bits = 1; layout.generation_bits <= 60; layout.generation_bits++) {
            const int rest = 64 - layout.index_bits - layout.generation_bits;

            for (int tag_bits = 0; tag_bits <= rest; tag_bits++) {
                layout.tag_bits = (uint8_t)tag_bits;
                expect_round_trip(layout, haft_field_max(layout.index_bits),
                                  haft_field_max(layout.generation_bits),
                                  haft_field_max(layout.tag_bits));
                expect_round_trip(layout, 4, 1, 0);
            }
        }
    }
}

Test(id, a_field_too_large_gives_nil_and_never_spills)
{
    for (int i = 0; i < LAYOUTS; i++) {
        const haft_layout layout = layouts[i];
        const uint64_t index = haft_field_max(layout.index_bits);
        const uint64_t generation = haft_field_max(layout.generation_bits);
        const uint64_t tag = haft_field_max(layout.tag_bits);

        cr_expect(haft_id_is_nil(haft_id_pack(layout, index + 1, generation, tag)));
        cr_expect(haft_id_is_nil(haft_id_pack(layout, index, generation + 1, tag)));
        cr_expect(haft_id_is_nil(haft_id_pack(layout, index, generation, tag + 1)));
        cr_expect(haft_id_is_nil(haft_id_pack(layout, UINT64_MAX, generation, tag)));
        cr_expect(haft_id_is_nil(haft_id_pack(layout, index, UINT64_MAX, tag)));
        cr_expect(haft_id_is_nil(haft_id_pack(layout, index, generation, UINT64_MAX)));
    }
}

Test(id, highest_index_generation_and_tag_fill_the_layout)
{
    for (int i = 0; i < LAYOUTS; i++) {
        const haft_layout layout = layouts[i];
        const haft_id id =
            haft_id_pack(layout, haft_field_max(layout.index_bits),
                         haft_field_max(layout.generation_bits), haft_field_max(layout.tag_bits));
        const unsigned width =
            (unsigned)layout.index_bits + layout.generation_bits + layout.tag_bits;

        cr_expect(eq(u64, id.bits, haft_field_max(width)));
        cr_expect(not(haft_id_is_nil(id)));
    }
}

Test(id, index_is_lowest_then_generation_then_tag)
{
    const haft_id id = haft_id_pack(HAFT_LAYOUT_32_24_8, 0x11223344, 0x556677, 0x88);

    cr_expect(eq(u64, id.bits, UINT64_C(0x8855667711223344)));
}

Test(id, nil_is_all_zeros_and_only_that)
{
    const haft_id low = {1};
    const haft_id high = {UINT64_C(1) << 63};

    cr_expect(eq(u64, HAFT_NIL.bits, 0));
    cr_expect(haft_id_is_nil(HAFT_NIL));
    cr_expect(not(haft_id_is_nil(low)));
    cr_expect(not(haft_id_is_nil(high)));
}

Test(id, equal_means_all_64_bits)
{
    const haft_id id = {UINT64_C(0x123456789abcdef0)};

    cr_expect(haft_id_equal(id, id));
    for (unsigned bit = 0; bit < 64; bit++) {
        const haft_id other = {id.bits ^ UINT64_C(1) << bit};

        cr_expect(not(haft_id_equal(id, other)));
    }
}

Test(id, tag_of_a_layout_without_tag_is_zero)
{
    const haft_id id = {UINT64_MAX};

    cr_expect(eq(u64, haft_id_tag(HAFT_LAYOUT_32_32, id), 0));
    cr_expect(eq(u64, haft_id_tag(HAFT_LAYOUT_16_16, id), 0));
}

Test(id, fields_of_width_0_and_64)
{
    const haft_id id = {UINT64_C(0x123456789abcdef0)};

    cr_expect(eq(u64, haft_field_max(0), 0));
    cr_expect(eq(u64, haft_field_max(1), 1));
    cr_expect(eq(u64, haft_field_max(63), UINT64_MAX / 2));
    cr_expect(eq(u64, haft_field_max(64), UINT64_MAX));
    cr_expect(eq(u64, haft_field_get(id, 64, 0), 0));
    cr_expect(eq(u64, haft_field_get(id, 0, 64), id.bits));
    cr_expect(eq(u64, haft_field_get(id, 60, 4), 1));
}

/* --- 32-bit forms --- */

Test(id, u32_and_back_in_every_layout_of_32_bits_or_less)
{
    static const haft_layout narrow[] = {
        {20, 12, 0, 0}, {16, 16, 0, 0}, {3, 1, 0, 0}, {8, 8, 8, 0}};

    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
        const haft_layout l = narrow[i];
        const haft_id top =
            haft_id_pack(l, haft_field_max(l.index_bits), haft_field_max(l.generation_bits),
                         haft_field_max(l.tag_bits));
        const haft_id low = haft_id_pack(l, HAFT_FIRST_INDEX, 1, 0);

        cr_expect(haft_id_equal(haft_id_from_u32(haft_id_to_u32(l, top)), top));
        cr_expect(haft_id_equal(haft_id_from_u32(haft_id_to_u32(l, low)), low));
        cr_expect(eq(u32, haft_id_to_u32(l, HAFT_NIL), 0));
    }
}

Test(id, u32_of_a_wider_layout_is_nil)
{
    const haft_id id = {5};

    cr_expect(eq(u32, haft_id_to_u32(HAFT_LAYOUT_32_32, id), 0));
    cr_expect(eq(u32, haft_id_to_u32(HAFT_LAYOUT_OF(20, 12, 1), id), 0));
    cr_expect(eq(u32, haft_id_to_u32(HAFT_LAYOUT_OF(32, 1, 0), id), 0));
}

Test(id, u32_of_an_id_with_bits_above_the_layout_is_nil)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        const haft_id id = {UINT64_C(0x00014) | UINT64_C(1) << bit};
        const uint32_t wide = haft_id_to_u32(HAFT_LAYOUT_20_12, id);
        const uint32_t narrow = haft_id_to_u32(HAFT_LAYOUT_OF(8, 8, 0), id);

        cr_expect(eq(u32, wide, bit < 32 ? (uint32_t)id.bits : 0));
        cr_expect(eq(u32, narrow, bit < 16 ? (uint32_t)id.bits : 0));
    }
}

Test(id, from_u32_keeps_all_bits)
{
    cr_expect(eq(u64, haft_id_from_u32(UINT32_MAX).bits, UINT32_MAX));
    cr_expect(haft_id_is_nil(haft_id_from_u32(0)));
}

/* --- layouts --- */

Test(layout, presets_have_the_widths_of_their_names)
{
    const haft_layout presets[] = {HAFT_LAYOUT_32_32, HAFT_LAYOUT_32_24_8, HAFT_LAYOUT_20_12,
                                   HAFT_LAYOUT_16_16};
    static const int widths[][3] = {{32, 32, 0}, {32, 24, 8}, {20, 12, 0}, {16, 16, 0}};

    for (int i = 0; i < 4; i++) {
        cr_expect(eq(int, presets[i].index_bits, widths[i][0]));
        cr_expect(eq(int, presets[i].generation_bits, widths[i][1]));
        cr_expect(eq(int, presets[i].tag_bits, widths[i][2]));
        cr_expect(haft_layout_is_valid(presets[i]));
    }
}

Test(layout, valid_means_index_3_to_32_generation_1_to_60_and_64_together)
{
    for (int index = 0; index < 256; index++) {
        for (int generation = 0; generation < 256; generation++) {
            for (int tag = 0; tag < 256; tag++) {
                const haft_layout layout = {(uint8_t)index, (uint8_t)generation, (uint8_t)tag, 0};
                const bool valid = index >= 3 && index <= 32 && generation >= 1 &&
                                   generation <= 60 && index + generation + tag <= 64;

                must(haft_layout_is_valid(layout) == valid);
            }
        }
    }
}

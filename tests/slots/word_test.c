/* White-box: the arithmetic of slot words, for every word of tiny layouts. */
#include "lib/slots/word.h"
#include "tests/support.h"

TestSuite(word, .timeout = SUITE_SECONDS);

static const haft_layout tiny[] = {{3, 1, 0, 0}, {3, 1, 1, 0}, {3, 2, 2, 0},
                                   {4, 3, 2, 0}, {5, 4, 3, 0}, {8, 2, 1, 0}};

#define TINY (sizeof tiny / sizeof tiny[0])

static uint64_t words_of(haft_layout layout)
{
    return UINT64_C(1) << (layout.index_bits + layout.generation_bits + layout.tag_bits);
}

Test(word, the_marks_are_the_indices_never_issued)
{
    cr_expect(eq(u32, HAFT_FIRST_INDEX, 4));
    cr_expect(eq(int, MARK_END, 0));
    cr_expect(eq(int, MARK_RESERVED, 1));
    cr_expect(eq(int, MARK_EXHAUSTED, 2));
    cr_expect(eq(int, MARK_FREE, 3));
}

Test(word, with_index_changes_the_index_field_alone)
{
    for (size_t i = 0; i < TINY; i++) {
        const struct word_format format = word_format_of(tiny[i], 0, 1);

        for (uint64_t word = 0; word < words_of(tiny[i]); word++) {
            for (uint64_t index = 0; index <= format.index_mask; index++) {
                const haft_id changed = {word_with_index(&format, word, index)};

                must(haft_id_index(tiny[i], changed) == index);
                must(changed.bits >> tiny[i].index_bits == word >> tiny[i].index_bits);
                must(word_index(&format, changed.bits) == index);
            }
        }
    }
}

static void expect_next_life(haft_layout layout, uint64_t word, uint64_t index)
{
    const struct word_format format = word_format_of(layout, 0, 1);
    const haft_id before = {word};
    const haft_id next = {word_next_life(&format, word, index)};
    const uint64_t max = haft_field_max(layout.generation_bits);
    const uint64_t generation = haft_id_generation(layout, before);

    must(haft_id_tag(layout, next) == haft_id_tag(layout, before));
    must(haft_id_index(layout, next) == index);
    must(haft_id_generation(layout, next) == (generation == max ? 0 : generation + 1));
}

Test(word, next_life_after_the_last_is_0_and_never_carries_into_the_tag)
{
    for (size_t i = 0; i < TINY; i++) {
        for (uint64_t word = 0; word < words_of(tiny[i]); word++) {
            expect_next_life(tiny[i], word, 0);
            expect_next_life(tiny[i], word, MARK_FREE);
            expect_next_life(tiny[i], word, haft_field_max(tiny[i].index_bits));
        }
    }
    for (int i = 0; i < LAYOUTS; i++) {
        expect_next_life(layouts[i], UINT64_MAX, MARK_FREE);
        expect_next_life(layouts[i], 4, MARK_FREE);
    }
}

Test(word, wrapped_begins_again_at_generation_1_and_leaves_other_words)
{
    for (size_t i = 0; i < TINY; i++) {
        const struct word_format format = word_format_of(tiny[i], 0, 1);

        for (uint64_t word = 0; word < words_of(tiny[i]); word++) {
            const bool ended = haft_id_generation(tiny[i], (haft_id){word}) == 0;
            const haft_id wrapped = {word_wrapped(&format, word)};

            must(haft_id_generation(tiny[i], wrapped) != 0);
            must(wrapped.bits == (ended ? word + format.generation_one : word));
        }
    }
}

Test(word, last_life_undoes_next_life)
{
    for (size_t i = 0; i < TINY; i++) {
        const struct word_format format = word_format_of(tiny[i], 0, 1);

        for (uint64_t id = 0; id < words_of(tiny[i]); id++) {
            const uint64_t next = word_next_life(&format, id, MARK_FREE);
            const uint64_t index = word_index(&format, id);

            must(word_last_life(&format, next, index).bits == id);
        }
    }
}

Test(word, generation_is_0_only_if_it_is_0)
{
    for (size_t i = 0; i < TINY; i++) {
        const struct word_format format = word_format_of(tiny[i], 0, 1);

        for (uint64_t word = 0; word < words_of(tiny[i]); word++) {
            const haft_id id = {word};

            must((word_generation(&format, word) == 0) == (haft_id_generation(tiny[i], id) == 0));
        }
    }
}

Test(word, a_format_has_its_fields_in_place)
{
    const struct word_format format = word_format_of(HAFT_LAYOUT_32_24_8, 0x88, 0x556677);

    cr_expect(eq(u64, format.index_mask, UINT64_C(0xffffffff)));
    cr_expect(eq(u64, format.generation_mask, UINT64_C(0x00ffffff00000000)));
    cr_expect(eq(u64, format.tag_mask, UINT64_C(0xff00000000000000)));
    cr_expect(eq(u64, format.generation_one, UINT64_C(0x0000000100000000)));
    cr_expect(eq(u64, format.tag, UINT64_C(0x8800000000000000)));
    cr_expect(eq(u64, format.first, UINT64_C(0x8855667700000000)));
}

/*
 * Included before everything else, it breaks the library: the next life of a slot has the
 * generation of the one before.  White-box: it takes the place of two functions of lib/word.h.
 */
#ifndef HAFT_STRESS_TORTURE_SAME_GENERATION_H
#define HAFT_STRESS_TORTURE_SAME_GENERATION_H

#define word_next_life word_proper_next_life
#define word_last_life word_proper_last_life
#include "lib/word.h"
#undef word_next_life
#undef word_last_life

static inline uint64_t word_next_life(const struct word_format *format, uint64_t word,
                                      uint64_t index)
{
    return word_with_index(format, word, index);
}

static inline haft_id word_last_life(const struct word_format *format, uint64_t word,
                                     uint64_t index)
{
    const haft_id id = {word_with_index(format, word, index)};

    return id;
}

#endif /* HAFT_STRESS_TORTURE_SAME_GENERATION_H */

/*
 * tests/slots/typed.h - the types that typed tables are tested with, in C and in C++.
 *
 * Sizes and alignments at every edge: smaller than a word, no multiple of one, aligned to more than
 * a word; each without pins and with them.
 */
#ifndef HAFT_TESTS_TYPED_H
#define HAFT_TESTS_TYPED_H

#include <haft/kit/typed.h>

#define ALIGNED(bytes) __attribute__((aligned(bytes)))

HAFT_TYPED_ID(ship);
HAFT_TYPED_ID(torpedo);

struct ship {
    uint64_t hull;
    torpedo_id fired;
    double position[2];
};

struct torpedo {
    ship_id from;
    ship_id target;
};

HAFT_TYPED(ship, struct ship);
HAFT_TYPED_LOCAL(ship);
HAFT_TYPED_RESTORE(ship);
HAFT_TYPED_PACKED(ship);
HAFT_TYPED_TABLE(ship);
HAFT_TYPED_SHARE(ship);
HAFT_TYPED_COUNTED(ship);

HAFT_TYPED(torpedo, struct torpedo);
HAFT_TYPED_LOCAL(torpedo);

struct three_bytes {
    char bytes[3];
};

struct three_ints {
    int ints[3];
};

struct aligned_16 {
    ALIGNED(16) char bytes[40];
};

struct aligned_64 {
    ALIGNED(64) char bytes[60];
};

struct aligned_4096 {
    ALIGNED(4096) char byte;
};

/* All kinds of tables for `type`, as `name` and as pinned_`name`. */
#define ALL_TYPED(name, type)                                                                      \
    HAFT_TYPED_ID(name);                                                                           \
    HAFT_TYPED(name, type);                                                                        \
    HAFT_TYPED_LOCAL(name);                                                                        \
    HAFT_TYPED_PACKED(name);                                                                       \
    HAFT_TYPED_TABLE(name);                                                                        \
    HAFT_TYPED_COUNTED(name);                                                                      \
    HAFT_TYPED_ID(pinned_##name);                                                                  \
    HAFT_TYPED_PINNED(pinned_##name, type);                                                        \
    HAFT_TYPED_LOCAL(pinned_##name);                                                               \
    HAFT_TYPED_TABLE(pinned_##name)

ALL_TYPED(byte, char);
ALL_TYPED(three_bytes, struct three_bytes);
ALL_TYPED(three_ints, struct three_ints);
ALL_TYPED(word, uint64_t);
ALL_TYPED(pointer, const char *);
ALL_TYPED(aligned_16, struct aligned_16);
ALL_TYPED(aligned_64, struct aligned_64);
ALL_TYPED(aligned_4096, struct aligned_4096);

/* do_it(name) for each of them; for those with pins as well. */
#define FOR_EACH_TYPE(do_it)                                                                       \
    do_it(byte);                                                                                   \
    do_it(three_bytes);                                                                            \
    do_it(three_ints);                                                                             \
    do_it(word);                                                                                   \
    do_it(pointer);                                                                                \
    do_it(aligned_16);                                                                             \
    do_it(aligned_64);                                                                             \
    do_it(aligned_4096)

#define FOR_EACH_PINNED_TYPE(do_it)                                                                \
    do_it(pinned_byte);                                                                            \
    do_it(pinned_three_bytes);                                                                     \
    do_it(pinned_three_ints);                                                                      \
    do_it(pinned_word);                                                                            \
    do_it(pinned_pointer);                                                                         \
    do_it(pinned_aligned_16);                                                                      \
    do_it(pinned_aligned_64);                                                                      \
    do_it(pinned_aligned_4096)

#endif /* HAFT_TESTS_TYPED_H */

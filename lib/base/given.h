/*
 * lib/base/given.h - memory that the program has given, cut from its start on.
 *
 * The same calls cut it and measure how much is needed, wherever it may begin.
 */
#ifndef HAFT_LIB_GIVEN_H
#define HAFT_LIB_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct given {
    char *at; /* not cut yet; NULL: none is given, or it is measured */
    uint64_t left;
    uint64_t measured; /* bytes that suffice */
};

/* Of a program's options; NULL: none is given. */
struct given given_of(void *memory, uint64_t size);

/* Whether at least `needed` bytes are given, or none, of size 0.  Asked before any is taken. */
bool given_suffices(const struct given *given, uint64_t needed);

/* Whether a block of memory can have as many bytes: there are addresses for it. */
bool given_is_possible(uint64_t bytes);

/* For measuring: nothing is written. */
struct given given_to_measure(void);

/* `size` zero bytes at a multiple of `alignment`; NULL: too few remain.  Measured: any but NULL. */
void *given_take(struct given *given, uint64_t size, uint64_t alignment);

#endif /* HAFT_LIB_GIVEN_H */

/*
 * fuzz/options.h - the values that an input gives to options, and the functions that try them.
 */
#ifndef HAFT_FUZZ_OPTIONS_H
#define HAFT_FUZZ_OPTIONS_H

#include <haft/domain.h>
#include <haft/local.h>

#define VALUES_BYTES 115 /* 12 numbers and some flags */

struct values {
    /* of tables */
    uint64_t capacity, object_size, object_alignment, tag, first_generation, min_free;
    haft_layout layout;
    unsigned reuse;
    bool wrap, keep_order, pins, has_pinned_type, never_wait;
    bool wipe, spread, allocates;
    uint64_t growth_step, waiting_bytes;

    /* of domains, command sets, arenas and exports */
    unsigned clock;
    bool gives_flavour, gives_buffer, gives_directory;
    uint64_t block_size, max_block_size, buffer_size, interval_ms;
};

/* The members of options that all kinds of table have. */
#define COMMON_OPTIONS_OF(values)                                                                  \
    .capacity = (values)->capacity, .object_size = (size_t)(values)->object_size,                  \
    .object_alignment = (size_t)(values)->object_alignment, .layout = (values)->layout,            \
    .tag = (values)->tag, .first_generation = (values)->first_generation

/* options_other.c: domains and the like.  Returns how many were opened, or refused. */
uint64_t try_others(const struct values *values);

/* options_counted.c: counted tables, also in memory of the program's; the same. */
uint64_t try_counted(const struct values *values);

/* options_given.c: a haft_local in memory of the program's; the same. */
uint64_t try_given(const struct values *values);

/* --- memory of the program's --- */

#define MOST_GIVEN (UINT64_C(1) << 20) /* bytes: sanitizers touch them all */
#define UNTOUCHED 0xa5

/* Exactly `size` bytes at an odd address, behind and before which AddressSanitizer looks. */
struct memory {
    char *block;
    char *at;
    uint64_t size;
};

struct memory take_memory(uint64_t size);
bool is_untouched(const struct memory *memory);

/* A byte too few is refused, and not touched. */
#define MUST_NEED_ALL(open, options, memory, opened)                                               \
    do {                                                                                           \
        (options).memory = (memory).at;                                                            \
        (options).memory_size = (memory).size - 1;                                                 \
        must((open) == HAFT_NO_MEMORY && (opened) == NULL, "a byte too few");                      \
        must(is_untouched(&(memory)), "what is too little is not touched");                        \
        (options).memory_size = (memory).size;                                                     \
        must((open) == HAFT_OK, "the footprint is enough");                                        \
    } while (0)

/* --- answers --- */

void must(bool holds, const char *what);
void tell_answer(const char *what, haft_status said);

#endif /* HAFT_FUZZ_OPTIONS_H */

/*
 * tests/packed/packed.h - what the tests of haft_packed share.  A test that holds with keep_order
 * and without is written once.
 */
#ifndef HAFT_TESTS_PACKED_H
#define HAFT_TESTS_PACKED_H

#include "tests/support.h"
#include <haft/kit/packed.h>

/* The body runs twice, with `keep_order`. */
#define TEST_ON_EACH_ORDER(suite, name)                                                            \
    ParameterizedTestParameters(suite, name)                                                       \
    {                                                                                              \
        static int both[2] = {0, 1};                                                               \
        return cr_make_param_array(int, both, 2);                                                  \
    }                                                                                              \
    ParameterizedTest(int *keep_order, suite, name)

haft_packed *packed_open(const haft_packed_options *options);

/* Objects of 8 bytes: values. */
haft_packed *packed_open_values(uint64_t capacity, bool keep_order);
haft_id packed_insert_value(haft_packed *packed, uint64_t value);
uint64_t packed_value_at(const haft_packed *packed, uint64_t position);

/* Insert the values 0 to count - 1; their ids in `ids`. */
void packed_fill(haft_packed *packed, haft_id *ids, uint64_t count);

/* Whether the objects are these values, in this order. */
bool packed_has(const haft_packed *packed, const uint64_t *values, uint64_t count);

/* The three arrays agree with each other at each position, and the counts with them. */
void packed_must_be_sound(const haft_packed *packed, size_t object_size);

void packed_close(haft_packed *packed);
void packed_end(haft_packed **packed);

#endif /* HAFT_TESTS_PACKED_H */

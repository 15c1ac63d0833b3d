/*
 * stress/operations.h - which atomic operations the library makes.
 *
 * For programs over a library built with -DHAFT_HOOKED: link stress/operations.c, which carries the
 * operations out, and define operation_made().
 *
 * White-box: edges and words are those of lib/base/atomics.h.
 */
#ifndef HAFT_STRESS_OPERATIONS_H
#define HAFT_STRESS_OPERATIONS_H

#include "lib/base/atomics.h"

enum operation_kind {
    OPERATION_LOAD,
    OPERATION_STORE,
    OPERATION_MODIFY, /* compare-and-swap, exchange, fetch and add */
    OPERATION_KINDS
};

/* The calling thread is about to make an operation with that edge or reason. */
void operation_made(haft_edge edge, enum operation_kind kind, const void *word);

#endif /* HAFT_STRESS_OPERATIONS_H */

/*
 * stress/linear/history.h - what threads did to a table, and whether one thread could have.
 *
 * A history is linearizable if its operations can be put into one sequence that the table of one
 * thread allows, and in which no operation stands before one that had returned when it was called
 * (M. Herlihy and J. Wing, "Linearizability: a correctness condition for concurrent objects", ACM
 * TOPLAS 12 (1990)).  The search tries each operation that may come next, and remembers which sets
 * of operations it has tried as a beginning (J. Wing and C. Gong, "Testing and verifying concurrent
 * objects", JPDC 17 (1993); G. Lowe, "Testing for linearizability", CCPE 29 (2017)).  What a table
 * holds after a beginning depends on which operations are in it, and not on their order: so the set
 * is all there is to remember.
 *
 *   insert    HAFT_OK: an id that was not issued before, in a slot without an owner or a pin
 *             HAFT_FULL: if insertions that had begun, less frees that had ended, fill the capacity
 *             HAFT_BUSY: if a free had begun, or another insertion under way had a slot in hand
 *   free      HAFT_OK: the id is live; HAFT_STALE or HAFT_EXHAUSTED: it was freed; HAFT_RESERVED or
 *             HAFT_NEVER_ISSUED: it was not issued
 *   resolve, is_live, pin
 *             found: the id is live, and its object is the inserted one; not found: it is not live
 *   unpin     HAFT_OK: the id's object has a pin; HAFT_NOT_PINNED: it has none
 */
#ifndef HAFT_STRESS_LINEAR_HISTORY_H
#define HAFT_STRESS_LINEAR_HISTORY_H

#include <haft/id.h>
#include <haft/status.h>
#include <stdbool.h>
#include <stdio.h>

enum linear_kind {
    LINEAR_INSERT,
    LINEAR_FREE,
    LINEAR_RESOLVE,
    LINEAR_IS_LIVE,
    LINEAR_PIN,
    LINEAR_UNPIN,
    LINEAR_ACQUIRE, /* these of counted tables alone */
    LINEAR_AGAIN,
    LINEAR_RELEASE,
    LINEAR_COPY,
    LINEAR_TAKE
};

struct linear_operation {
    enum linear_kind kind;
    uint32_t thread;
    haft_status status; /* of those that give one */
    bool found;         /* of those that look */
    haft_id id;
    uint64_t note; /* the object that was inserted, or found there */
    uint64_t called;
    uint64_t returned;
};

#define LINEAR_MOST 32 /* operations in a history */

struct linear_history {
    haft_layout layout;
    uint64_t capacity;
    uint32_t count;
    struct linear_operation operations[LINEAR_MOST];
};

/* Whether a table of one thread, after the operations of `set`, a bit each, answers so. */
typedef bool linear_model(const struct linear_history *history, uint64_t set,
                          const struct linear_operation *operation);

/* A shared table's; what a counted table allows is in counted.h. */
linear_model linear_allows;

bool linear_is_allowed(const struct linear_history *history, linear_model *model);

/* Pairs of operations of two threads on one slot, at once. */
uint32_t linear_overlaps(const struct linear_history *history);

/* In order of the calls: a line for each, with its id's fields. */
void linear_print(FILE *file, const struct linear_history *history);

#endif /* HAFT_STRESS_LINEAR_HISTORY_H */

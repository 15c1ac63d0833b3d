/*
 * tests/clock/forking.h - forks, and domains of every flavour and clock.
 *
 * Programs with this are linked with mb and bp as well.
 */
#ifndef HAFT_TESTS_FORKING_H
#define HAFT_TESTS_FORKING_H

#include "tests/support.h"
#include <stdio.h>
#include <unistd.h>

/* The rows of the table in docs/design.md. */
enum row {
    MEMB_CALLS,
    MEMB_THREAD,
    MB_CALLS,
    QSBR_CALLS,
    QSBR_THREAD,
    BP_CALLS,
    BP_THREAD,
    WORKERS,
    FRAME,
    ROWS
};

haft_domain_options options_of(int row);
struct shared open_shared_row(int row, const haft_table_options *with);

/* liburcu's own for bp: its header cannot be included beside others. */
void urcu_bp_before_fork(void);
void urcu_bp_after_fork_parent(void);
void urcu_bp_after_fork_child(void);

/* The body runs once for each row, with `row`. */
#define TEST_ON_EACH_ROW(suite, name)                                                              \
    ParameterizedTestParameters(suite, name)                                                       \
    {                                                                                              \
        static int all[ROWS];                                                                      \
        for (int i = 0; i < ROWS; i++) {                                                           \
            all[i] = i;                                                                            \
        }                                                                                          \
        return cr_make_param_array(int, all, ROWS);                                                \
    }                                                                                              \
    ParameterizedTest(int *row, suite, name)

/* A promise in a child: Criterion is the parent's. */
#define require(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* What a child does before it ends, within 20 seconds. */
typedef void child_body(struct shared *shared, haft_id live);

/* Fork, with liburcu's calls for bp around it, and expect that the child ends well. */
void fork_and_run(child_body *body, struct shared *shared, haft_id live);

#endif /* HAFT_TESTS_FORKING_H */

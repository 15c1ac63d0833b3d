/*
 * A table whose memory is not pages of the system has no records of runs: the child of a fork read
 * them.
 */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options = {.clock = PLAN_FRAME,
                .index_bits = 4,
                .generation_bits = 19,
                .capacity = 5,
                .object_size = 4096,
                .filled = 10},
    .step_count = 1,
    .steps =
        {
            {0, CALL_FORK, 0, 1},
        },
};

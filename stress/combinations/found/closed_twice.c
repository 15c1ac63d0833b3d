/*
 * A worker that a late destructor asked for was closed by hand, and its part was taken over: the
 * table closed although that worker was open.
 */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options = {.clock = PLAN_FRAME, .index_bits = 3, .generation_bits = 10, .capacity = 1},
    .step_count = 4,
    .steps =
        {
            {0, CALL_GUEST_LATE, 0, 1},
            {0, CALL_CLOSE_LEFT, 0, 1},
            {0, CALL_WORKER_OPEN, 0, 1},
            {0, CALL_TABLE_CLOSE, 0, 1},
        },
};

/* haft_recycle_exhausted() put slots that were ready behind batches that wait. */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options = {.clock = PLAN_FRAME, .index_bits = 9, .generation_bits = 1, .capacity = 477},
    .step_count = 8,
    .steps =
        {
            {0, CALL_WORKER_CURRENT, 0, 1},
            {0, CALL_INSERT, 0, 1},
            {0, CALL_FREE_MANY, 0, 1},
            {0, CALL_PROGRESS, 0, 1},
            {0, CALL_INSERT, 0, 506},
            {0, CALL_FREE, 0, 129},
            {0, CALL_RECYCLE, 0, 1},
            {0, CALL_DRAIN, 0, 1},
        },
};

/* haft_trim() put slots that were ready behind batches that wait. */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options = {.clock = PLAN_FRAME, .index_bits = 9, .generation_bits = 16, .capacity = 477},
    .step_count = 7,
    .steps =
        {
            {0, CALL_WORKER_OPEN, 0, 1},
            {0, CALL_INSERT, 0, 508},
            {0, CALL_TABLE_FREE, 0, 1},
            {0, CALL_TICK, 0, 1},
            {0, CALL_FREE, 0, 129},
            {0, CALL_TRIM, 0, 1},
            {0, CALL_DRAIN, 0, 1},
        },
};

/*
 * With an exact capacity, a worker that found a slot and was told HAFT_FULL kept the slot, where no
 * other could have it.
 */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 2,
    .options =
        {
            .clock = PLAN_FRAME,
            .index_bits = 3,
            .generation_bits = 3,
            .capacity = 3,
            .restore_range = 1,
            .exact_capacity = 1,
        },
    .step_count = 3,
    .steps =
        {
            {1, CALL_WORKER_OPEN, 0, 1},
            {0, CALL_BARE_INSERT, 0, 3},
            {1, CALL_RESTORE, 0, 1},
        },
};

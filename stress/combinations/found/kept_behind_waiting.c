/*
 * A call without a worker filed the rest of a ready batch among those that wait: slots free by
 * the statistics were HAFT_BUSY.
 */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options =
        {
            .clock = PLAN_WORKERS,
            .index_bits = 8,
            .generation_bits = 19,
            .capacity = 111,
            .warn_at = 111,
        },
    .step_count = 6,
    .fill_count = 1,
    .steps =
        {
            {0, CALL_WORKER_OPEN, 0, 1},
            {0, CALL_INSERT, 0, 65},
            {0, CALL_FREE, 0, 4},
            {0, CALL_WAIT, 0, 1},
            {0, CALL_BARE_INSERT, 0, 155},
            {0, CALL_DRAIN, 0, 1},
        },
    .on_fill =
        {
            {0, CALL_BARE_FREE, 0, 1},
        },
};

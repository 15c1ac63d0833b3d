/*
 * With an exact capacity, an insertion inside on_reclaim that was told HAFT_FULL left its slot in
 * the batch that was being taken back: a slot was handed out twice, another was lost.
 */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 2,
    .options =
        {
            .clock = PLAN_FRAME,
            .index_bits = 8,
            .generation_bits = 20,
            .capacity = 40,
            .exact_capacity = 1,
            .on_reclaim = 1,
            .filled = 40,
        },
    .step_count = 8,
    .reclaim_count = 1,
    .steps =
        {
            {0, CALL_WORKER_OPEN, 0, 1},
            {1, CALL_WORKER_OPEN, 0, 1},
            {0, CALL_FREE, 0, 2},
            {0, CALL_FLUSH, 0, 1},
            {0, CALL_TICK, 0, 1},
            {1, CALL_INSERT, 0, 1},
            {1, CALL_INSERT, 0, 1},
            {0, CALL_INSERT, 0, 1},
        },
    .on_reclaim =
        {
            {0, CALL_RESERVE, 0, 1},
        },
};

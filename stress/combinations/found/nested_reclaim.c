/* A reservation that on_reclaim made reclaimed slots: on_reclaim ran within on_reclaim. */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options =
        {
            .clock = PLAN_CALLER_MEMB,
            .index_bits = 3,
            .generation_bits = 24,
            .capacity = 1,
            .on_reclaim = 1,
        },
    .step_count = 5,
    .reclaim_count = 1,
    .steps =
        {
            {0, CALL_WORKER_OPEN, 0, 1},
            {0, CALL_INSERT, 0, 2},
            {0, CALL_FREE, 0, 2},
            {0, CALL_WAIT, 0, 1},
            {0, CALL_INSERT, 0, 1},
        },
    .on_reclaim =
        {
            {0, CALL_RESERVE, 0, 1},
        },
};

/*
 * A slot that was free when its local table was shared: the child of a fork counted it as freed.
 */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options = {.clock = PLAN_FRAME, .index_bits = 3, .generation_bits = 5, .capacity = 1},
    .step_count = 5,
    .steps =
        {
            {0, CALL_WORKER_CURRENT, 0, 1},
            {0, CALL_INSERT, 0, 2},
            {0, CALL_FREE, 0, 2},
            {0, CALL_UNSHARE_SHARE, 0, 1},
            {0, CALL_FORK, 0, 1},
        },
};

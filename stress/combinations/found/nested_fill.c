/* An insertion inside on_fill called on_fill. */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options =
        {
            .clock = PLAN_FRAME,
            .index_bits = 3,
            .generation_bits = 24,
            .capacity = 2,
            .warn_at = 2,
        },
    .step_count = 2,
    .fill_count = 1,
    .steps =
        {
            {0, CALL_WORKER_OPEN, 0, 1},
            {0, CALL_INSERT, 0, 2},
        },
    .on_fill =
        {
            {0, CALL_BARE_INSERT, 0, 1},
        },
};

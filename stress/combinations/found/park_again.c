#include "stress/combinations/plan.h"

const struct plan plan = {
    .seed = 29932480019941,
    .threads = 1,
    .options =
        {
            .clock = PLAN_CALLER_QSBR,
            .index_bits = 4,
            .generation_bits = 12,
            .capacity = 4,
        },
    .step_count = 3,
    .steps =
        {
            {0, CALL_PARK, 2, 3},
            {0, CALL_COMMANDS_OPEN, 1, 2},
            {0, CALL_PARK, 2, 2},
        },
};

/*
 * A thread with an implicit worker ended in a job of the workers clock: its member stayed online,
 * and all grace periods waited for it.
 */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options = {.clock = PLAN_WORKERS, .index_bits = 10, .generation_bits = 19, .capacity = 808},
    .step_count = 1,
    .steps = {{0, CALL_GUEST_LEAVING, 1, 1}},
};

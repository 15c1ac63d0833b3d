/*
 * A worker that a late destructor asked for was closed by hand, and again with its table: on the
 * workers clock no grace period waited for the next thread that opened a worker.
 */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options =
        {
            .clock = PLAN_WORKERS,
            .index_bits = 3,
            .generation_bits = 18,
            .capacity = 1,
            .object_size = 16,
        },
    .step_count = 9,
    .steps =
        {
            {0, CALL_GUEST_LATE, 0, 1},
            {0, CALL_CLOSE_LEFT, 0, 1},
            {0, CALL_TABLE_CLOSE, 0, 1},
            {0, CALL_WORKER_CURRENT, 0, 1},
            {0, CALL_BARE_INSERT, 0, 1},
            {0, CALL_RESOLVE, 0, 1},
            {0, CALL_FREE, 0, 1},
            {0, CALL_FLUSH, 0, 1},
            {0, CALL_INSERT, 0, 1},
        },
};

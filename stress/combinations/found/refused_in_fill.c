/* A search that found nothing in on_fill left its worker to the thread's next take-back. */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 4,
    .options =
        {
            .clock = PLAN_FRAME,
            .index_bits = 3,
            .generation_bits = 6,
            .capacity = 1,
            .restore_range = 1,
            .warn_at = 1,
            .on_reclaim = 1,
            .filled = 2,
        },
    .step_count = 9,
    .reclaim_count = 1,
    .fill_count = 1,
    .steps =
        {
            {1, CALL_WORKER_OPEN, 0, 1},
            {3, CALL_WORKER_OPEN, 0, 1},
            {1, CALL_FREE, 0, 1},
            {0, CALL_PROGRESS, 0, 1},
            {0, CALL_BARE_ABORT, 0, 1},
            {3, CALL_FREE, 0, 2},
            {3, CALL_INSERT, 0, 1},
            {3, CALL_WORKER_CLOSE, 0, 1},
            {0, CALL_PROGRESS, 0, 1},
        },
    .on_reclaim =
        {
            {0, CALL_RESTORE, 0, 1},
        },
    .on_fill =
        {
            {0, CALL_INSERT, 0, 1},
        },
};

/*
 * Callbacks freed more than was reclaimed, and insertions in them were refused, while the
 * background thread ended grace periods: haft_trim() reclaimed for ever.
 */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options =
        {
            .clock = PLAN_THREAD_MEMB,
            .index_bits = 11,
            .generation_bits = 14,
            .capacity = 1995,
            .on_reclaim = 1,
            .filled = 1999,
        },
    .step_count = 4,
    .reclaim_count = 2,
    .steps =
        {
            {0, CALL_WORKER_OPEN, 0, 1},
            {0, CALL_FREE, 0, 75},
            {0, CALL_FLUSH, 0, 1},
            {0, CALL_TRIM, 0, 1},
        },
    .on_reclaim =
        {
            {0, CALL_TABLE_FREE, 0, 126},
            {0, CALL_INSERT, 988, 3},
        },
};

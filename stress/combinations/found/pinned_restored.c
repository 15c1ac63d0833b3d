/* A restored object, freed and pinned, made a full table say HAFT_BUSY for ever. */
#include "stress/combinations/plan.h"

const struct plan plan = {
    .threads = 1,
    .options =
        {
            .clock = PLAN_FRAME,
            .index_bits = 3,
            .generation_bits = 3,
            .capacity = 3,
            .restore_range = 1,
            .pins = 1,
        },
    .step_count = 8,
    .steps =
        {
            {0, CALL_WORKER_OPEN, 0, 1},
            {0, CALL_RESERVE, 0, 1},
            {0, CALL_RESTORE, 0, 1},
            {0, CALL_PIN, 0, 1},
            {0, CALL_PROGRESS, 0, 1},
            {0, CALL_FREE, 0, 1},
            {0, CALL_INSERT, 0, 1},
            {0, CALL_PROGRESS, 0, 1},
        },
};

/* Smaller plans: see shrink.h. */
#include "stress/combinations/shrink.h"
#include "stress/combinations/watch.h"
#include <stddef.h>
#include <string.h>

struct shrinking {
    struct plan *plan; /* the smallest so far */
    breaks *still_breaks;
    double end;
    bool has_shrunk; /* in this round */
};

/* Takes the candidate if it still breaks the rule. */
static bool take(struct shrinking *shrinking, const struct plan *candidate)
{
    if (memcmp(candidate, shrinking->plan, sizeof *candidate) == 0 ||
        watch_seconds() > shrinking->end || !shrinking->still_breaks(candidate)) {
        return false;
    }
    *shrinking->plan = *candidate;
    shrinking->has_shrunk = true;
    return true;
}

static void remove_steps(struct step *steps, uint32_t *count, uint32_t from, uint32_t number)
{
    memmove(&steps[from], &steps[from + number], (*count - from - number) * sizeof *steps);
    *count -= number;
}

static void leave_out_steps(struct shrinking *shrinking)
{
    for (uint32_t size = shrinking->plan->step_count / 2; size != 0; size /= 2) {
        for (uint32_t from = 0; from + size <= shrinking->plan->step_count;) {
            struct plan candidate = *shrinking->plan;

            remove_steps(candidate.steps, &candidate.step_count, from, size);
            from += take(shrinking, &candidate) ? 0 : size;
        }
    }
}

static void leave_out_callbacks(struct shrinking *shrinking)
{
    for (uint32_t i = 0; i < MOST_CALLBACK_STEPS; i++) {
        struct plan candidate = *shrinking->plan;

        if (i < candidate.reclaim_count) {
            remove_steps(candidate.on_reclaim, &candidate.reclaim_count, i, 1);
            take(shrinking, &candidate);
        }
    }
}

/* Smaller numbers in one step. */
static void simplify(struct shrinking *shrinking, struct step *step)
{
    const struct step before = *step;
    const struct step simpler[] = {
        {0, before.call, 0, 1},
        {0, before.call, before.at, before.count},
        {before.thread, before.call, 0, before.count},
        {before.thread, before.call, before.at, 1},
        {before.thread, before.call, before.at, (uint16_t)(before.count / 2 + 1)},
        {before.thread, before.call, before.at, (uint16_t)(before.count - 1)},
    };

    for (uint32_t i = 0; i < sizeof simpler / sizeof *simpler; i++) {
        struct plan candidate = *shrinking->plan;
        struct step *at =
            (struct step *)((char *)&candidate + ((char *)step - (char *)shrinking->plan));

        *at = simpler[i];
        if (at->count != 0 && at->count <= before.count && take(shrinking, &candidate)) {
            return;
        }
    }
}

static void simplify_all(struct shrinking *shrinking)
{
    struct plan *plan = shrinking->plan;

    for (uint32_t i = 0; i < plan->step_count; i++) {
        simplify(shrinking, &plan->steps[i]);
    }
    for (uint32_t i = 0; i < plan->reclaim_count; i++) {
        simplify(shrinking, &plan->on_reclaim[i]);
    }
}

static void try_option(struct shrinking *shrinking, size_t offset, uint32_t value)
{
    struct plan candidate = *shrinking->plan;
    uint32_t *option = (uint32_t *)(void *)((char *)&candidate.options + offset);

    if (*option > value) {
        *option = value;
        take(shrinking, &candidate);
    }
}

static void simplify_options(struct shrinking *shrinking)
{
    struct plan candidate = *shrinking->plan;

    if (candidate.options.clock != PLAN_FRAME) {
        candidate.options.clock = PLAN_FRAME;
        take(shrinking, &candidate);
    }
#define TRY_WITHOUT(name)                                                                          \
    if (strcmp(#name, "clock") != 0 && strcmp(#name, "index_bits") != 0 &&                         \
        strcmp(#name, "generation_bits") != 0 && strcmp(#name, "capacity") != 0) {                 \
        try_option(shrinking, offsetof(struct plan_options, name), 0);                             \
    }
    ALL_OPTIONS(TRY_WITHOUT)
#undef TRY_WITHOUT
    try_option(shrinking, offsetof(struct plan_options, object_size), 16);
    try_option(shrinking, offsetof(struct plan_options, capacity),
               shrinking->plan->options.capacity / 2 + 1);
    try_option(shrinking, offsetof(struct plan_options, capacity),
               shrinking->plan->options.capacity - 1);
    try_option(shrinking, offsetof(struct plan_options, index_bits),
               shrinking->plan->options.index_bits - 1);
}

static void leave_out_threads(struct shrinking *shrinking)
{
    struct plan candidate = *shrinking->plan;

    if (candidate.threads > 1) {
        candidate.threads--;
        for (uint32_t i = 0; i < candidate.step_count; i++) {
            candidate.steps[i].thread = (uint8_t)(candidate.steps[i].thread % candidate.threads);
        }
        take(shrinking, &candidate);
    }
}

void shrink(struct plan *plan, breaks *still_breaks, double seconds)
{
    struct shrinking shrinking = {plan, still_breaks, watch_seconds() + seconds, true};

    while (shrinking.has_shrunk && watch_seconds() < shrinking.end) {
        shrinking.has_shrunk = false;
        leave_out_steps(&shrinking);
        leave_out_threads(&shrinking);
        leave_out_callbacks(&shrinking);
        simplify_options(&shrinking);
        simplify_all(&shrinking);
    }
}

/*
 * A plan of found/, played: exits with 0 if all rules hold, with 3 and the rule if one is broken.
 */
#include "stress/combinations/backend.h"
#include "stress/combinations/watch.h"
#include <sys/mman.h>

#define TIMES 400    /* or schedules, unless threads take turns */
#define PATIENCE 300 /* seconds: less than Bazel has with a small test */

extern const struct plan plan;

static void play(uint64_t from, uint64_t count)
{
    (void)from;
    (void)count;
    backend_play(&plan, backend_modes[0], TIMES);
}

int main(void)
{
    watch_open();
    for (uint32_t i = 0; i < plan_tries(&plan.options); i++) {
        if (!watch_run(play, 0, 1, PATIENCE, memfd_create("errors", 0))) {
            printf("VIOLATION: %s (%s)\n", watch->kind, watch->detail);
            return 3;
        }
    }
    puts("held");
    return 0;
}

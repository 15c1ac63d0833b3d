/*
 * A plan that once broke a rule, as a test.
 *
 *   plan [mode] [times]
 *
 * Exits with 0 if all rules hold, with 3 and the rule if one is broken.
 */
#include "stress/combinations/backend.h"
#include "stress/combinations/watch.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern const struct plan plan;

static const char *mode;
static uint32_t times = 400;

static void play(uint64_t from, uint64_t count)
{
    (void)from;
    (void)count;
    backend_play(&plan, mode, times);
}

static const char *mode_named(const char *name)
{
    for (const char *const *at = backend_modes; *at != NULL; at++) {
        if (strcmp(*at, name) == 0) {
            return *at;
        }
    }
    fprintf(stderr, "plan: no mode '%s'\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    mode = argc > 1 ? mode_named(argv[1]) : backend_modes[0];
    times = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : times;
    watch_open();
    if (watch_run(play, 0, 1, 60, memfd_create("errors", 0))) {
        puts("held");
        return 0;
    }
    printf("VIOLATION: %s (%s)\n", watch->kind, watch->detail);
    return 3;
}

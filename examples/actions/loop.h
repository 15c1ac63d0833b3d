/*
 * loop.h - events in, actions out, one arena for each round's memory.
 */
#ifndef ACTIONS_LOOP_H
#define ACTIONS_LOOP_H

#include "options.h"
#include <haft/kit/arena.h>

enum kind { CREATED, CHANGED, GROWN, RENAMED, REMOVED, KINDS };

extern const char *const kind_names[KINDS];

#define SAMPLE 5       /* commands kept to be shown */
#define SAMPLE_SIZE 96 /* bytes of each, at most */

struct result {
    uint64_t events[KINDS];
    uint64_t actions;
    uint64_t bytes;      /* of all commands */
    uint64_t digest;     /* of all commands, in order */
    uint64_t cleaned_up; /* rounds whose clean-up ran */
    uint64_t elapsed_ns;
    bool leaked; /* the arena was not empty after a reset */
    char sample[SAMPLE][SAMPLE_SIZE];
    haft_arena_stats arena;
};

/* HAFT_OK, or why there is no result. */
haft_status run_loop(const struct options *options, struct result *result);

#endif /* ACTIONS_LOOP_H */

/*
 * report.h - what came out, for people and for programs.
 */
#ifndef LEVEL_LOAD_REPORT_H
#define LEVEL_LOAD_REPORT_H

#include "level.h"
#include "options.h"

/* Times in nanoseconds; 0 for steps that were left out. */
struct result {
    struct census census;
    uint64_t skipped; /* links, devices and the like */
    uint64_t walk_ns;
    uint64_t shared_ns; /* from haft_share() to the end of haft_unshare() */
    uint64_t save_ns;
    uint64_t load_ns;
    uint64_t saved_bytes;
};

void report_print(const struct options *options, struct level *level, const struct result *result);
void report_print_json(const struct options *options, struct level *level,
                       const struct result *result);

#endif /* LEVEL_LOAD_REPORT_H */

/*
 * options.h - the command line.
 */
#ifndef REPLAY_OPTIONS_H
#define REPLAY_OPTIONS_H

#include "failure.h"
#include <haft/domain.h>
#include <stdint.h>

struct options {
    const char *trace_path;
    const char *flavour_name; /* NULL, both: the workers clock has none */
    const haft_foreign_clock *foreign_clock;
    const char *clock_name;
    haft_clock clock;
    unsigned workers;
    uint64_t repeat;
    uint64_t seed;
    bool json;
    const char *export_directory; /* for haft-top; NULL: statistics are not exported */
};

/* False, with `failure` set, if the arguments are not acceptable.  --help prints and exits. */
bool options_parse(struct options *options, int argc, char **argv, struct failure *failure);

#endif /* REPLAY_OPTIONS_H */

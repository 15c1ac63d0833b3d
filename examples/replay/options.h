/*
 * options.h - the command line.
 */
#ifndef REPLAY_OPTIONS_H
#define REPLAY_OPTIONS_H

#include <glib.h>
#include <haft/domain.h>
#include <stdbool.h>
#include <stdint.h>

struct options {
    char *trace_path;
    const char *flavour_name; /* NULL, both: the workers clock has none */
    const struct rcu_flavor_struct *flavour;
    const char *clock_name;
    haft_clock clock;
    unsigned workers;
    uint64_t repeat;
    uint64_t seed;
    bool json;
    char *export_directory; /* for haft-top; NULL: statistics are not exported */
};

/* False, with `error` set, if the arguments are not acceptable.  --help prints and exits. */
bool options_parse(struct options *options, int argc, char **argv, GError **error);
void options_clear(struct options *options);

#endif /* REPLAY_OPTIONS_H */

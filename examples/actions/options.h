/*
 * options.h - the command line.
 */
#ifndef ACTIONS_OPTIONS_H
#define ACTIONS_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum actions_exit {
    EXIT_RIGHT = 0,
    EXIT_WRONG = 1,   /* the arena was not empty after a reset */
    EXIT_REFUSED = 2, /* the command line is not acceptable */
    EXIT_SYSTEM = 3   /* the system gave no memory, or took no output */
};

struct options {
    uint64_t rounds;
    uint64_t seed;
    bool json;
};

/* False, with `error` set, if the arguments are not acceptable.  --help prints and exits. */
bool options_parse(struct options *options, int argc, char **argv, GError **error);

#endif /* ACTIONS_OPTIONS_H */

/*
 * stress/torture/options.h - the command line.
 */
#ifndef HAFT_STRESS_TORTURE_OPTIONS_H
#define HAFT_STRESS_TORTURE_OPTIONS_H

#include "stress/support.h"
#include "stress/torture/profile.h"

struct options {
    struct run run; /* threads, seed, clock and flavour */
    uint64_t seconds;
    const struct profile *profile; /* NULL: all */
    bool without_grace;            /* broken on purpose: grace periods end at once */
    bool as_json;
};

/* Ends the process where they are not acceptable, or only help was wanted. */
struct options options_from(int argc, char **argv);

#endif /* HAFT_STRESS_TORTURE_OPTIONS_H */

/*
 * options.h - the command line.
 */
#ifndef BOIDS_OPTIONS_H
#define BOIDS_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum boids_exit {
    EXIT_RIGHT = 0,
    EXIT_REFUSED = 2, /* the command line is not acceptable */
    EXIT_SYSTEM = 3   /* the system gave no memory or threads, or did not take a picture */
};

struct options {
    uint64_t frames;
    uint64_t agents;
    uint64_t seed;
    unsigned workers;
    uint64_t fps; /* frames a second, at most, while the world is shown; 0: no limit */
    bool json;
    char *png; /* folder, or NULL */
    uint64_t png_every;
};

/* False, with `error` set, if the arguments are not acceptable.  --help prints and exits. */
bool options_parse(struct options *options, int argc, char **argv, GError **error);
void options_clear(struct options *options);

#endif /* BOIDS_OPTIONS_H */

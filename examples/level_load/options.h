/*
 * options.h - the command line.
 */
#ifndef LEVEL_LOAD_OPTIONS_H
#define LEVEL_LOAD_OPTIONS_H

#include <glib.h>
#include <haft/domain.h>
#include <stdbool.h>

struct options {
    char *tree;      /* where to read a tree, or */
    char *load_path; /* the saved level to load; the other is NULL */
    char *save_path; /* NULL: nothing is saved */
    const char *clock_name;
    haft_domain_options clock;
    unsigned workers;
    unsigned top;
    bool json;
};

/* False, with `error` set, if the arguments are not acceptable.  --help prints and exits. */
bool options_parse(struct options *options, int argc, char **argv, GError **error);
void options_clear(struct options *options);

#endif /* LEVEL_LOAD_OPTIONS_H */

/*
 * options.h - the command line.
 */
#ifndef TOP_OPTIONS_H
#define TOP_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum view { VIEW_LIVE, VIEW_ONCE, VIEW_JSON, VIEW_PROMETHEUS };

struct options {
    char *directory;
    uint64_t process; /* 0: all */
    uint64_t interval_ms;
    enum view view;
};

/* False, with `error` set, if the arguments are not acceptable.  --help prints and exits. */
bool options_parse(struct options *options, int argc, char **argv, GError **error);

#endif /* TOP_OPTIONS_H */

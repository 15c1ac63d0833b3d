/*
 * failure.h - exit codes.
 */
#ifndef TOP_FAILURE_H
#define TOP_FAILURE_H

#include <glib.h>

enum top_exit {
    EXIT_SHOWN = 0,
    EXIT_NOTHING = 1,  /* no running process has an export there */
    EXIT_REFUSED = 2,  /* the command line or the directory is not acceptable */
    EXIT_MALFORMED = 3 /* a file is not an export, or cannot be read; no output was taken */
};

/* The domain of haft-top's GErrors; their code is the exit code. */
#define TOP_FAILURE top_failure_quark()
GQuark top_failure_quark(void);

#endif /* TOP_FAILURE_H */

/*
 * arguments.h - what the command lines of all programs that use GLib have in common.
 *
 * Where arguments are not acceptable these functions return false, with `error` set: its message is
 * a line for people that names --help, its code is ARGUMENTS_REFUSED.
 */
#ifndef EXAMPLES_SCREEN_ARGUMENTS_H
#define EXAMPLES_SCREEN_ARGUMENTS_H

#include <glib.h>
#include <stdbool.h>

enum { ARGUMENTS_REFUSED = 2 }; /* the exit status, too */

/* Reads all that `entries` name.  --help prints `help` and exits. */
bool read_arguments(const GOptionEntry *entries, const char *help, int argc, char **argv,
                    GError **error);

/* The message, and where to read more.  Always false. */
bool refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* `option` without its dashes. */
bool in_range(const char *option, gint64 value, gint64 least, gint64 most, GError **error);

#endif /* EXAMPLES_SCREEN_ARGUMENTS_H */

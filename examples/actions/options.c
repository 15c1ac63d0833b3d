#include "options.h"
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_ROUNDS 1000000000

static const char help[] =
    "Usage: actions [OPTION...]\n"
    "\n"
    "Turns made-up events of a file server into shell commands, round by round.  The\n"
    "commands are only described; nothing is run.  All memory of a round, its queue\n"
    "and its strings, comes from one arena, which is reset at the round's end.\n"
    "\n"
    "Options:\n"
    "  --rounds N      rounds, 1 to 1000000000 (default: 1000)\n"
    "  --seed N        of the events, 0 or more (default: 1); the same seed gives the\n"
    "                  same commands\n"
    "  --json          print the result as JSON\n"
    "  --help          print this\n"
    "\n"
    "The digest is a checksum of all commands in order.\n"
    "\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  the arena was not empty after a reset\n"
    "  2  the options are not acceptable\n"
    "  3  the system gave no memory\n"
    "\n"
    "Examples:\n"
    "  actions\n"
    "  actions --rounds 1000000 --seed 7\n"
    "  actions --json | jq .arena.high_water\n";

static bool refuse(const char *format, ...) G_GNUC_PRINTF(1, 2);
static bool refuse(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fprintf(stderr, "actions: %s; --help says more\n", message);
    g_free(message);
    return false;
}

static bool in_range(const char *name, gint64 value, gint64 least, gint64 most)
{
    return (value >= least && value <= most) ||
           refuse("--%s must be from %" PRId64 " to %" PRId64 ", not %" PRId64, name, least, most,
                  value);
}

bool options_parse(struct options *options, int argc, char **argv)
{
    gint64 rounds = 1000;
    gint64 seed = 1;
    gboolean json = FALSE;
    gboolean show_help = FALSE;
    const GOptionEntry entries[] = {
        {"rounds", 0, 0, G_OPTION_ARG_INT64, &rounds, NULL, NULL},
        {"seed", 0, 0, G_OPTION_ARG_INT64, &seed, NULL, NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, NULL, NULL},
        {"help", 'h', 0, G_OPTION_ARG_NONE, &show_help, NULL, NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    GOptionContext *context = g_option_context_new(NULL);
    GError *reason = NULL;

    g_option_context_set_help_enabled(context, FALSE); /* show_help does it */
    g_option_context_add_main_entries(context, entries, NULL);
    bool accepted = g_option_context_parse(context, &argc, &argv, &reason);

    g_option_context_free(context);
    if (!accepted) {
        refuse("%s", reason->message);
        g_error_free(reason);
        return false;
    }
    if (show_help) {
        fputs(help, stdout);
        exit(EXIT_RIGHT);
    }
    if (argc > 1) {
        return refuse("'%s' is not an option", argv[1]);
    }
    accepted = in_range("rounds", rounds, 1, MAX_ROUNDS) && in_range("seed", seed, 0, G_MAXINT64);
    *options = (struct options){(uint64_t)rounds, (uint64_t)seed, json};
    return accepted;
}

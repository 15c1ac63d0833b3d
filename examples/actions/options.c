#include "options.h"
#include "examples/screen/arguments.h"

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
    "  3  the system gave no memory, or took no output\n"
    "\n"
    "Examples:\n"
    "  actions\n"
    "  actions --rounds 1000000 --seed 7\n"
    "  actions --json | jq .arena.high_water\n";

bool options_parse(struct options *options, int argc, char **argv, GError **error)
{
    gint64 rounds = 1000;
    gint64 seed = 1;
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        {"rounds", 0, 0, G_OPTION_ARG_INT64, &rounds, NULL, NULL},
        {"seed", 0, 0, G_OPTION_ARG_INT64, &seed, NULL, NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, NULL, NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    const bool accepted = read_arguments(entries, help, argc, argv, error) &&
                          in_range("rounds", rounds, 1, MAX_ROUNDS, error) &&
                          in_range("seed", seed, 0, G_MAXINT64, error);

    *options = (struct options){(uint64_t)rounds, (uint64_t)seed, json};
    return accepted;
}

#include "options.h"
#include "examples/screen/arguments.h"
#include <haft/urcu.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_WORKERS 256
#define MAX_TOP 1000000
#define NOT_GIVEN G_MININT64

static const char help[] =
    "Usage: level_load [OPTION...] [DIR]\n"
    "       level_load [OPTION...] --load FILE\n"
    "\n"
    "Loads a tree of files the way a game loads a level: one thread makes an object\n"
    "of each file and folder, linked by ids, in a new table; then the table is\n"
    "shared, and jobs on a thread pool measure the files by their ids; then it is one\n"
    "thread's again, adds up the folders, saves the level and loads it again.  Every\n"
    "id must lead to the same object afterwards, and the ids of objects freed before\n"
    "must be stale.\n"
    "\n"
    "DIR is /usr/include unless given.  Lines are line ends, as wc -l counts them.\n"
    "Symbolic links are not followed, but DIR may be one; links, devices and the like\n"
    "are skipped.  What cannot be read is counted, and the rest goes on.\n"
    "\n"
    "Options:\n"
    "  --workers N     threads that measure (default: as many as cores)\n"
    "  --clock NAME    what ends grace periods: caller (default), whichever thread needs\n"
    "                  one; thread, one of haft's own; or workers, all of them together\n"
    "  --save FILE     save the level in FILE (default: only in memory)\n"
    "  --load FILE     load a saved level in place of a tree\n"
    "  --top N         how many of the largest to print (default: 5)\n"
    "  --json          print the result as JSON\n"
    "  --help          print this\n"
    "\n"
    "A saved level is text; examples/level_load/saved.h describes it.  Saving replaces\n"
    "FILE when all is written, or leaves it as it was.\n"
    "\n"
    "Exit status:\n"
    "  0  all answers were right\n"
    "  1  haft gave a wrong answer\n"
    "  2  the options, DIR or the saved level are not acceptable\n"
    "  3  the system gave no memory, no threads, or no room to save,\n"
    "     or took no output\n"
    "\n"
    "Examples:\n"
    "  level_load\n"
    "  level_load --workers 4 --clock workers --top 10 /usr/share\n"
    "  level_load --save include.level && level_load --load include.level\n"
    "  level_load --json --top 1 . | jq -r '.largest_files[0].path'\n";

/* What GLib writes; checked and turned into struct options after it. */
struct raw {
    gint64 workers;
    gint64 top;
    char *clock;
    char *save;
    char *load;
    char **paths;
    gboolean json;
};

static bool parse_arguments(struct raw *raw, int argc, char **argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"workers", 0, 0, G_OPTION_ARG_INT64, &raw->workers, NULL, NULL},
        {"clock", 0, 0, G_OPTION_ARG_STRING, &raw->clock, NULL, NULL},
        {"save", 0, 0, G_OPTION_ARG_FILENAME, &raw->save, NULL, NULL},
        {"load", 0, 0, G_OPTION_ARG_FILENAME, &raw->load, NULL, NULL},
        {"top", 0, 0, G_OPTION_ARG_INT64, &raw->top, NULL, NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &raw->json, NULL, NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->paths, NULL, NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };

    return read_arguments(entries, help, argc, argv, error);
}

static bool take_number(const char *name, gint64 given, gint64 otherwise, gint64 least, gint64 most,
                        unsigned *number, GError **error)
{
    const gint64 value = given == NOT_GIVEN ? otherwise : given;

    *number = (unsigned)value;
    return in_range(name, value, least, most, error);
}

/* "name" from "name////", but "/" from "/". */
static char *without_slashes(const char *path)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    return g_strndup(path, length);
}

static bool take_source(struct options *options, const struct raw *raw, GError **error)
{
    const guint count = raw->paths == NULL ? 0 : g_strv_length(raw->paths);
    const char *given_too = count != 0                  ? raw->paths[0]
                            : raw->workers != NOT_GIVEN ? "--workers"
                            : raw->clock != NULL        ? "--clock"
                                                        : NULL;

    if (raw->load != NULL && given_too != NULL) {
        return refuse(error, "--load measures no tree: '%s' has nothing to do", given_too);
    }
    if (count > 1) {
        return refuse(error, "one folder at a time, not also '%s'", raw->paths[1]);
    }
    options->load_path = g_strdup(raw->load);
    options->tree =
        raw->load != NULL ? NULL : without_slashes(count ? raw->paths[0] : "/usr/include");
    return true;
}

/* Saving replaces what has that name: it must not be a device, a link or a folder. */
static bool take_target(struct options *options, const char *path, GError **error)
{
    struct stat status;

    options->save_path = g_strdup(path);
    return path == NULL || lstat(path, &status) != 0 || S_ISREG(status.st_mode) ||
           refuse(error, "--save: '%s' is there and is not a regular file", path);
}

static bool take_clock(struct options *options, const char *name, GError **error)
{
    options->clock.foreign_clock = haft_urcu_memb();
    if (name == NULL || g_str_equal(name, "caller")) {
        options->clock_name = "caller";
        options->clock.clock = HAFT_CLOCK_CALLER;
    } else if (g_str_equal(name, "thread")) {
        options->clock_name = "thread";
        options->clock.clock = HAFT_CLOCK_THREAD;
    } else if (g_str_equal(name, "workers")) {
        options->clock_name = "workers";
        options->clock.clock = HAFT_CLOCK_WORKERS;
        options->clock.foreign_clock = NULL;
    } else {
        return refuse(error, "--clock must be caller, thread or workers, not '%s'", name);
    }
    return true;
}

bool options_parse(struct options *options, int argc, char **argv, GError **error)
{
    struct raw raw = {.workers = NOT_GIVEN, .top = NOT_GIVEN};

    *options = (struct options){.tree = NULL};
    const bool accepted =
        parse_arguments(&raw, argc, argv, error) &&
        take_number("workers", raw.workers, MIN(g_get_num_processors(), MAX_WORKERS), 1,
                    MAX_WORKERS, &options->workers, error) &&
        take_number("top", raw.top, 5, 0, MAX_TOP, &options->top, error) &&
        take_clock(options, raw.clock, error) && take_target(options, raw.save, error) &&
        take_source(options, &raw, error);
    options->json = raw.json;
    g_free(raw.clock);
    g_free(raw.save);
    g_free(raw.load);
    g_strfreev(raw.paths);
    return accepted;
}

void options_clear(struct options *options)
{
    g_free(options->tree);
    g_free(options->load_path);
    g_free(options->save_path);
}

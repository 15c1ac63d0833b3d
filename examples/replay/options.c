#include "options.h"
#include "examples/screen/arguments.h"

/* liburcu's own headers declare one flavour at a time. */
extern const struct rcu_flavor_struct urcu_memb_flavor;
extern const struct rcu_flavor_struct urcu_qsbr_flavor;

#define MAX_WORKERS 256
#define MAX_REPEAT 1000000000

static const char help[] =
    "Usage: replay [OPTION...] TRACE\n"
    "\n"
    "Replays recorded handle traffic by many threads through one haft table, and\n"
    "checks every answer: each use finds its own object, each free wins once, freed\n"
    "ids stay stale, nothing is left over.\n"
    "\n"
    "TRACE is text, plain or gzip, with rows \"thread,op,object\": op a allocates the\n"
    "object, u uses it, f frees it.  Lines that begin with # are comments.  Each\n"
    "traced thread keeps its order, and each object the order of its rows; beyond\n"
    "that, the traced threads run as jobs on a thread pool.  With --repeat, up to\n"
    "four replays for each worker are in flight at once, each with its own objects.\n"
    "\n"
    "Options:\n"
    "  --repeat N      replay N times (default: 1)\n"
    "  --workers N     threads (default: as many as cores)\n"
    "  --flavour NAME  liburcu's: memb (default) or qsbr\n"
    "  --clock NAME    who ends grace periods: thread (default), one of haft's own;\n"
    "                  caller, whichever worker needs one; or workers, all of them\n"
    "                  together, without liburcu and so without a flavour\n"
    "  --seed N        of the random checks (default: a new one, which is printed)\n"
    "  --export DIR    while it runs, its statistics are in DIR: see haft-top\n"
    "  --json          print the result as JSON\n"
    "  --help          print this\n"
    "\n"
    "Latency is the time of one call to haft (haft_insert, haft_resolve, haft_free),\n"
    "taken for one call in 16.  It includes reading the clock, which alone takes\n"
    "\"clock_read\", and with an insert taking slots back and waiting for them.\n"
    "peak_slots is how many slots the table ever used.  cross_thread_frees are those\n"
    "that the trace has on another thread than the allocation, cross_worker_frees\n"
    "those that were carried out on another worker.\n"
    "\n"
    "Exit status:\n"
    "  0  all answers were right\n"
    "  1  wrong answers\n"
    "  2  the options or the trace are not acceptable\n"
    "  3  the system gave no memory or no threads\n"
    "\n"
    "Examples:\n"
    "  replay examples/data/npm_install_fds.csv.gz\n"
    "  replay --repeat 100 --workers 4 --flavour qsbr --clock caller trace.csv\n"
    "  replay --clock workers trace.csv\n"
    "  replay --repeat 5000 --export /tmp trace.csv & haft-top /tmp\n"
    "  replay --json --seed 7 trace.csv.gz | jq .latency_ns.p99\n";

/* What GLib writes; checked and turned into struct options after it. */
struct raw {
    gint64 repeat;
    gint64 workers;
    gint64 seed;
    char *flavour;
    char *clock;
    char *export_directory;
    char **paths;
    gboolean json;
};

static bool parse_arguments(struct raw *raw, int argc, char **argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"repeat", 0, 0, G_OPTION_ARG_INT64, &raw->repeat, NULL, NULL},
        {"workers", 0, 0, G_OPTION_ARG_INT64, &raw->workers, NULL, NULL},
        {"flavour", 0, 0, G_OPTION_ARG_STRING, &raw->flavour, NULL, NULL},
        {"clock", 0, 0, G_OPTION_ARG_STRING, &raw->clock, NULL, NULL},
        {"seed", 0, 0, G_OPTION_ARG_INT64, &raw->seed, NULL, NULL},
        {"export", 0, 0, G_OPTION_ARG_FILENAME, &raw->export_directory, NULL, NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &raw->json, NULL, NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->paths, NULL, NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };

    return read_arguments(entries, help, argc, argv, error);
}

static bool take_trace(struct options *options, const struct raw *raw, GError **error)
{
    const guint count = raw->paths == NULL ? 0 : g_strv_length(raw->paths);

    if (count == 0) {
        return refuse(error, "which trace?  Name a file, as in: replay trace.csv.gz");
    }
    if (count > 1) {
        return refuse(error, "one trace at a time, not also '%s'", raw->paths[1]);
    }
    options->trace_path = g_strdup(raw->paths[0]);
    return true;
}

static bool take_numbers(struct options *options, const struct raw *raw, GError **error)
{
    if (!in_range("repeat", raw->repeat, 1, MAX_REPEAT, error) ||
        !in_range("workers", raw->workers, 1, MAX_WORKERS, error) ||
        !in_range("seed", raw->seed, 0, G_MAXINT64, error)) {
        return false;
    }
    options->repeat = (uint64_t)raw->repeat;
    options->workers = (unsigned)raw->workers;
    options->seed = (uint64_t)raw->seed;
    options->json = raw->json;
    options->export_directory = g_strdup(raw->export_directory);
    return true;
}

static bool take_flavour(struct options *options, const char *name, GError **error)
{
    if (name == NULL || g_str_equal(name, "memb")) {
        options->flavour_name = "memb";
        options->flavour = &urcu_memb_flavor;
    } else if (g_str_equal(name, "qsbr")) {
        options->flavour_name = "qsbr";
        options->flavour = &urcu_qsbr_flavor;
    } else {
        return refuse(error, "--flavour must be memb or qsbr, not '%s'", name);
    }
    return true;
}

static bool take_clock(struct options *options, const char *name, GError **error)
{
    if (name == NULL || g_str_equal(name, "thread")) {
        options->clock_name = "thread";
        options->clock = HAFT_CLOCK_THREAD;
    } else if (g_str_equal(name, "caller")) {
        options->clock_name = "caller";
        options->clock = HAFT_CLOCK_CALLER;
    } else if (g_str_equal(name, "workers")) {
        options->clock_name = "workers";
        options->clock = HAFT_CLOCK_WORKERS;
    } else {
        return refuse(error, "--clock must be thread, caller or workers, not '%s'", name);
    }
    return true;
}

/* The workers clock does without liburcu. */
static bool take_flavour_and_clock(struct options *options, const struct raw *raw, GError **error)
{
    if (!take_clock(options, raw->clock, error)) {
        return false;
    }
    if (options->clock != HAFT_CLOCK_WORKERS) {
        return take_flavour(options, raw->flavour, error);
    }
    return raw->flavour == NULL ||
           refuse(error, "--flavour '%s' has no meaning with --clock workers", raw->flavour);
}

bool options_parse(struct options *options, int argc, char **argv, GError **error)
{
    struct raw raw = {
        .repeat = 1,
        .workers = MIN(g_get_num_processors(), MAX_WORKERS),
        .seed = g_random_int(),
    };

    *options = (struct options){.trace_path = NULL};
    const bool accepted =
        parse_arguments(&raw, argc, argv, error) && take_numbers(options, &raw, error) &&
        take_flavour_and_clock(options, &raw, error) && take_trace(options, &raw, error);

    g_free(raw.flavour);
    g_free(raw.clock);
    g_free(raw.export_directory);
    g_strfreev(raw.paths);
    return accepted;
}

void options_clear(struct options *options)
{
    g_free(options->trace_path);
    g_free(options->export_directory);
}

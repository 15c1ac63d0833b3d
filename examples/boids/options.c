#include "options.h"
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_FRAMES 1000000000
#define MAX_AGENTS 4000000
#define MAX_WORKERS 256
#define MAX_FPS 1000

static const char help[] =
    "Usage: boids [OPTION...]\n"
    "\n"
    "Flocks of prey and their hunters, tens of thousands, moved by the jobs of a\n"
    "thread pool.  All live in one haft table and know each other by ids.  Agents are\n"
    "born and die in every frame, through command sets; who followed or hunted one\n"
    "that died learns it from the id.  The same seed gives the same world, whatever\n"
    "the number of workers.\n"
    "\n"
    "On a terminal the world is shown while it runs: six lines of prey in cool\n"
    "colours, hunters in red.\n"
    "\n"
    "Options:\n"
    "  --frames N      how many, 1 to 1000000000 (default: 600)\n"
    "  --agents N      at the start, 100 to 4000000 (default: 20000)\n"
    "  --workers N     threads, 1 to 256 (default: as many as cores)\n"
    "  --seed N        of all chance, 0 or more (default: 1)\n"
    "  --fps N         on a terminal, frames a second at most, 0 to 1000; 0 is as many\n"
    "                  as possible (default: 30)\n"
    "  --png DIR       write pictures into this folder, which is made if need be\n"
    "  --png-every N   of each Nth frame, 1 to 1000000000 (default: 100)\n"
    "  --json          print the result as JSON, and show nothing\n"
    "  --help          print this\n"
    "\n"
    "stale_targets counts ids that named an agent which had died meanwhile.  The\n"
    "checksum covers every agent's state at the end; on other processors or compilers\n"
    "it may be another, as floating point may be.\n"
    "\n"
    "Exit status:\n"
    "  0  done\n"
    "  2  the options are not acceptable\n"
    "  3  the system gave no memory or threads, or a picture could not be written\n"
    "\n"
    "Examples:\n"
    "  boids\n"
    "  boids --agents 100000 --frames 3000 --fps 0\n"
    "  boids --png pictures --png-every 50 --seed 7\n"
    "  boids --json --workers 2 | jq .checksum\n";

/* What GLib writes; checked and turned into struct options after it. */
struct raw {
    gint64 frames;
    gint64 agents;
    gint64 workers;
    gint64 seed;
    gint64 fps;
    gint64 png_every;
    char *png;
    gboolean json;
    gboolean help;
};

static bool refuse(const char *format, ...) G_GNUC_PRINTF(1, 2);
static bool refuse(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fprintf(stderr, "boids: %s; --help says more\n", message);
    g_free(message);
    return false;
}

static bool in_range(const char *name, gint64 value, gint64 least, gint64 most)
{
    return (value >= least && value <= most) ||
           refuse("--%s must be from %" PRId64 " to %" PRId64 ", not %" PRId64, name, least, most,
                  value);
}

static bool parse_arguments(struct raw *raw, int argc, char **argv)
{
    const GOptionEntry entries[] = {
        {"frames", 0, 0, G_OPTION_ARG_INT64, &raw->frames, NULL, NULL},
        {"agents", 0, 0, G_OPTION_ARG_INT64, &raw->agents, NULL, NULL},
        {"workers", 0, 0, G_OPTION_ARG_INT64, &raw->workers, NULL, NULL},
        {"seed", 0, 0, G_OPTION_ARG_INT64, &raw->seed, NULL, NULL},
        {"fps", 0, 0, G_OPTION_ARG_INT64, &raw->fps, NULL, NULL},
        {"png", 0, 0, G_OPTION_ARG_FILENAME, &raw->png, NULL, NULL},
        {"png-every", 0, 0, G_OPTION_ARG_INT64, &raw->png_every, NULL, NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &raw->json, NULL, NULL},
        {"help", 'h', 0, G_OPTION_ARG_NONE, &raw->help, NULL, NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    GOptionContext *context = g_option_context_new(NULL);
    GError *reason = NULL;

    g_option_context_set_help_enabled(context, FALSE); /* raw->help does it */
    g_option_context_add_main_entries(context, entries, NULL);
    const bool parsed = g_option_context_parse(context, &argc, &argv, &reason);

    g_option_context_free(context);
    if (!parsed) {
        refuse("%s", reason->message);
        g_error_free(reason);
        return false;
    }
    return argc == 1 || refuse("'%s' is not an option", argv[1]);
}

static bool check(const struct raw *raw)
{
    return in_range("frames", raw->frames, 1, MAX_FRAMES) &&
           in_range("agents", raw->agents, 100, MAX_AGENTS) &&
           in_range("workers", raw->workers, 1, MAX_WORKERS) &&
           in_range("seed", raw->seed, 0, G_MAXINT64) && in_range("fps", raw->fps, 0, MAX_FPS) &&
           in_range("png-every", raw->png_every, 1, MAX_FRAMES) &&
           (raw->png == NULL || g_mkdir_with_parents(raw->png, 0777) == 0 ||
            refuse("--png: '%s' is no folder and cannot be made one", raw->png));
}

bool options_parse(struct options *options, int argc, char **argv)
{
    struct raw raw = {
        .frames = 600,
        .agents = 20000,
        .workers = MIN(g_get_num_processors(), MAX_WORKERS),
        .seed = 1,
        .fps = 30,
        .png_every = 100,
    };
    const bool parsed = parse_arguments(&raw, argc, argv);

    if (parsed && raw.help) {
        fputs(help, stdout);
        g_free(raw.png);
        exit(EXIT_RIGHT);
    }
    const bool accepted = parsed && check(&raw);

    *options = (struct options){
        .frames = (uint64_t)raw.frames,
        .agents = (uint64_t)raw.agents,
        .seed = (uint64_t)raw.seed,
        .workers = (unsigned)raw.workers,
        .fps = (uint64_t)raw.fps,
        .json = raw.json,
        .png = raw.png,
        .png_every = (uint64_t)raw.png_every,
    };
    return accepted;
}

void options_clear(struct options *options)
{
    g_free(options->png);
}

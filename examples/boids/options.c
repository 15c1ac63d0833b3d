#include "options.h"
#include "examples/screen/arguments.h"

#define MAX_FRAMES 1000000000
#define MAX_AGENTS 4000000
#define MAX_WORKERS 256
#define MAX_FPS 1000

static const char help[] =
    "Usage: boids [OPTION...]\n"
    "\n"
    "Flocks of prey and their hunters, tens of thousands, moved by the jobs of a\n"
    "thread pool.  All live in one haft table and know each other by ids.  Agents are\n"
    "born and die in every frame, through command sets; one that followed or hunted a\n"
    "dead one learns it from the id.  The same seed gives the same world, whatever the\n"
    "number of workers.\n"
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
    "  3  the system gave no memory or threads, or a picture or the output could not be\n"
    "     written\n"
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
};

static bool parse_arguments(struct raw *raw, int argc, char **argv, GError **error)
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
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };

    return read_arguments(entries, help, argc, argv, error);
}

static bool check(const struct raw *raw, GError **error)
{
    return in_range("frames", raw->frames, 1, MAX_FRAMES, error) &&
           in_range("agents", raw->agents, 100, MAX_AGENTS, error) &&
           in_range("workers", raw->workers, 1, MAX_WORKERS, error) &&
           in_range("seed", raw->seed, 0, G_MAXINT64, error) &&
           in_range("fps", raw->fps, 0, MAX_FPS, error) &&
           in_range("png-every", raw->png_every, 1, MAX_FRAMES, error) &&
           (raw->png == NULL || g_mkdir_with_parents(raw->png, 0777) == 0 ||
            refuse(error, "--png: '%s' is no folder and cannot be made one", raw->png));
}

bool options_parse(struct options *options, int argc, char **argv, GError **error)
{
    struct raw raw = {
        .frames = 600,
        .agents = 20000,
        .workers = MIN(g_get_num_processors(), MAX_WORKERS),
        .seed = 1,
        .fps = 30,
        .png_every = 100,
    };
    const bool accepted = parse_arguments(&raw, argc, argv, error) && check(&raw, error);

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

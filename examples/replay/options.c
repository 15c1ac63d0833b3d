#include "options.h"
#include "examples/screen/output.h"
#include "latency.h"
#include <errno.h>
#include <getopt.h>
#include <haft/urcu.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

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
    "  --clock NAME    what ends grace periods: thread (default), one of haft's own;\n"
    "                  caller, whichever worker needs one; or workers, all of them\n"
    "                  together, without liburcu and so without a flavour\n"
    "  --seed N        of the random checks (default: a new one, which is printed)\n"
    "  --export DIR    while it runs, its statistics are in DIR: see haft-top\n"
    "  --json          print the result as JSON\n"
    "  --help          print this\n"
    "\n"
    "Latency is the time of one call to haft (haft_insert, haft_resolve, haft_free),\n"
    "taken for one call in 16.  It includes reading the clock, which alone takes\n"
    "\"clock_read\", and with an insert reclaiming slots and waiting for them.\n"
    "peak_slots is how many slots the table ever used.  cross_thread_frees are those\n"
    "that the trace has on another thread than the allocation, cross_worker_frees\n"
    "those that were carried out on another worker.\n"
    "\n"
    "Exit status:\n"
    "  0  all answers were right\n"
    "  1  wrong answers\n"
    "  2  the options or the trace are not acceptable\n"
    "  3  the system gave no memory or no threads, or took no output\n"
    "\n"
    "Examples:\n"
    "  replay examples/data/npm_install_fds.csv.gz\n"
    "  replay --repeat 100 --workers 4 --flavour qsbr --clock caller trace.csv\n"
    "  replay --clock workers trace.csv\n"
    "  replay --repeat 5000 --export /tmp trace.csv & haft-top /tmp\n"
    "  replay --json --seed 7 trace.csv.gz | jq .latency_ns.p99\n";

static bool refuse(struct failure *failure, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse(struct failure *failure, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *message = replay_text_of(format, arguments);
    va_end(arguments);
    fail(failure, EXIT_REFUSED, "%s; --help says more", message);
    free(message);
    return false;
}

static bool take_number(const char *option, const char *text, uint64_t least, uint64_t most,
                        uint64_t *number, struct failure *failure)
{
    char *end;

    errno = 0;
    const long long value = strtoll(text, &end, 10);

    if (end == text || *end != '\0') {
        return refuse(failure, "--%s must be a number, not '%s'", option, text);
    }
    if (errno != 0 || value < (long long)least || value > (long long)most) {
        return refuse(failure, "--%s must be from %" PRIu64 " to %" PRIu64 ", not %s", option,
                      least, most, text);
    }
    *number = (uint64_t)value;
    return true;
}

static bool take_flavour(struct options *options, const char *name, struct failure *failure)
{
    if (strcmp(name, "memb") == 0) {
        options->foreign_clock = haft_urcu_memb();
    } else if (strcmp(name, "qsbr") == 0) {
        options->foreign_clock = haft_urcu_qsbr();
    } else {
        return refuse(failure, "--flavour must be memb or qsbr, not '%s'", name);
    }
    options->flavour_name = name;
    return true;
}

static bool take_clock(struct options *options, const char *name, struct failure *failure)
{
    if (strcmp(name, "thread") == 0) {
        options->clock = HAFT_CLOCK_THREAD;
    } else if (strcmp(name, "caller") == 0) {
        options->clock = HAFT_CLOCK_CALLER;
    } else if (strcmp(name, "workers") == 0) {
        options->clock = HAFT_CLOCK_WORKERS;
    } else {
        return refuse(failure, "--clock must be thread, caller or workers, not '%s'", name);
    }
    options->clock_name = name;
    return true;
}

static bool take_option(struct options *options, int option, const char *text,
                        struct failure *failure)
{
    uint64_t workers;

    switch (option) {
    case 'r':
        return take_number("repeat", text, 1, MAX_REPEAT, &options->repeat, failure);
    case 'w':
        if (!take_number("workers", text, 1, MAX_WORKERS, &workers, failure)) {
            return false;
        }
        options->workers = (unsigned)workers;
        return true;
    case 's':
        return take_number("seed", text, 0, INT64_MAX, &options->seed, failure);
    case 'f':
        return take_flavour(options, text, failure);
    case 'c':
        return take_clock(options, text, failure);
    case 'e':
        options->export_directory = text;
        return true;
    case 'j':
        options->json = true;
        return true;
    case 'h':
        print_help("replay", help);
    default: /* getopt_long has said what is wrong */
        return fail(failure, EXIT_REFUSED, "--help says more");
    }
}

static bool take_options(struct options *options, int argc, char **argv, struct failure *failure)
{
    static const struct option known[] = {
        {"repeat", required_argument, NULL, 'r'},
        {"workers", required_argument, NULL, 'w'},
        {"seed", required_argument, NULL, 's'},
        {"flavour", required_argument, NULL, 'f'},
        {"clock", required_argument, NULL, 'c'},
        {"export", required_argument, NULL, 'e'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (!take_option(options, option, optarg, failure)) {
            return false;
        }
    }
    return true;
}

/* The workers clock does without liburcu. */
static bool check_flavour(struct options *options, struct failure *failure)
{
    if (options->clock != HAFT_CLOCK_WORKERS) {
        return options->flavour_name != NULL || take_flavour(options, "memb", failure);
    }
    return options->flavour_name == NULL ||
           refuse(failure, "--flavour '%s' has no meaning with --clock workers",
                  options->flavour_name);
}

static bool take_trace(struct options *options, int argc, char **argv, struct failure *failure)
{
    if (optind == argc) {
        return refuse(failure, "no trace is named, as in: replay trace.csv.gz");
    }
    if (optind + 1 < argc) {
        return refuse(failure, "one trace at a time, not also '%s'", argv[optind + 1]);
    }
    options->trace_path = argv[optind];
    return true;
}

/* As many as the cores that this process may use. */
static unsigned default_workers(void)
{
    cpu_set_t cores;
    const int count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;

    return count < MAX_WORKERS ? (unsigned)count : MAX_WORKERS;
}

/* Of 32 bits: to be typed again. */
static uint64_t new_seed(void)
{
    uint32_t seed = 0;

    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        seed = (uint32_t)latency_now();
    }
    return seed;
}

bool options_parse(struct options *options, int argc, char **argv, struct failure *failure)
{
    *options = (struct options){
        .repeat = 1,
        .workers = default_workers(),
        .seed = new_seed(),
        .clock_name = "thread",
        .clock = HAFT_CLOCK_THREAD,
    };
    return take_options(options, argc, argv, failure) && check_flavour(options, failure) &&
           take_trace(options, argc, argv, failure);
}

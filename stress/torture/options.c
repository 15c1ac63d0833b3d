/* The command line; see options.h. */
#include "stress/torture/options.h"
#include "examples/ck/clock.h"
#include <argp.h>
#include <haft/urcu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_SECONDS (60 * 60 * 24 * 30)
#define DEFAULT_SECONDS 30

enum key {
    KEY_MINUTES = 'm',
    KEY_SECONDS = 's',
    KEY_CLOCK = 'c',
    KEY_FLAVOUR = 'f',
    KEY_THREADS = 't',
    KEY_PROFILE = 'p',
    KEY_SEED = 256,
    KEY_BREAK,
    KEY_LIST,
    KEY_JSON,
};

static const char doc[] =
    "Tortures haft's shared table for a time, and checks every answer.\v"
    "All profiles take turns, in plays of up to ten seconds, each with a domain and tables of its "
    "own.  A run fails when an invariant breaks, and also when a profile has not met its race: "
    "such a run proves nothing.\n"
    "\n"
    "The age of what readers hold is how many grace periods had ended since the object was freed "
    "when its reader looked for the last time.  Allowed are 1 with a foreign clock (the one "
    "that was under way when the section began), 0 with the frame clock; with the workers clock "
    "each of the other threads can end three that its announcement was late for, and one more may "
    "end.\n"
    "\n"
    "Ctrl-C ends a run early, with the summary of what it has done by then.\n"
    "\n"
    "Exit status: 0 all held, 1 a race was never met, 2 bad options, 3 a violation, 4 output that "
    "could not be written, 66 a report of ThreadSanitizer, 130 interrupted.\n"
    "\n"
    "Examples:\n"
    "  torture --minutes 60 --clock thread --flavour qsbr\n"
    "  torture --clock frame --threads 8 --seed 7\n"
    "  torture --profile exhaust --seconds 10 --json\n";

static const struct argp_option argp_options[] = {
    {"minutes", KEY_MINUTES, "N", 0, "for N minutes", 0},
    {"seconds", KEY_SECONDS, "N", 0, "for N seconds (30); added to the minutes", 0},
    {"clock", KEY_CLOCK, "NAME", 0, "caller, thread, workers or frame (caller)", 0},
    {"flavour", KEY_FLAVOUR, "NAME", 0,
     "of the clocks caller and thread: memb, qsbr, mb or bp of liburcu, or ck_epoch: ck (memb)", 0},
    {"threads", KEY_THREADS, "N", 0, "half of them readers, half of them writers (4)", 0},
    {"profile", KEY_PROFILE, "NAME", 0, "only that one; or all (all)", 0},
    {"list", KEY_LIST, NULL, 0, "the profiles", 0},
    {"seed", KEY_SEED, "N", 0, "of all chances; without it the time gives one", 0},
    {"break", KEY_BREAK, "WHAT", 0, "grace: let grace periods end at once.  The run must fail", 0},
    {"json", KEY_JSON, NULL, 0, "the result as JSON", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

struct raw {
    struct options *options;
    uint64_t minutes;
    uint64_t seconds;
    bool has_time;
};

static uint64_t number(struct argp_state *state, const char *name, const char *text, uint64_t least,
                       uint64_t most)
{
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value < least || value > most) {
        argp_error(state, "--%s must be from %llu to %llu, not '%s'", name,
                   (unsigned long long)least, (unsigned long long)most, text);
    }
    return value;
}

static void take_clock(struct argp_state *state, struct run *run, const char *name)
{
    if (!run_take_clock(run, name)) {
        argp_error(state, "--clock must be caller, thread, workers or frame, not '%s'", name);
    }
}

static void take_flavour(struct argp_state *state, struct run *run, const char *name)
{
    const struct {
        const char *name;
        const haft_foreign_clock *foreign_clock;
    } flavours[] = {
        {"memb", haft_urcu_memb()}, {"qsbr", haft_urcu_qsbr()}, {"mb", haft_urcu_mb()},
        {"bp", haft_urcu_bp()},     {"ck", &ck_clock},
    };

    for (size_t i = 0; i < sizeof flavours / sizeof flavours[0]; i++) {
        if (strcmp(name, flavours[i].name) == 0) {
            run->flavour_name = flavours[i].name;
            run->foreign_clock = flavours[i].foreign_clock;
            return;
        }
    }
    argp_error(state, "--flavour must be memb, qsbr, mb, bp or ck, not '%s'", name);
}

static void take_profile(struct argp_state *state, struct options *options, const char *name)
{
    options->profile = profile_named(name);
    if (options->profile == NULL && strcmp(name, "all") != 0) {
        argp_error(state, "--profile must be all or one that --list names, not '%s'", name);
    }
}

static _Noreturn void list_profiles(void)
{
    for (size_t i = 0; i < PROFILES; i++) {
        printf("%-8s  %s\n", profiles[i].name, profiles[i].what);
    }
    exit(end_output("torture", VERDICT_HELD));
}

static void take_break(struct argp_state *state, struct options *options, const char *what)
{
    options->without_grace = strcmp(what, "grace") == 0;
    if (!options->without_grace) {
        argp_error(state, "--break must be grace, not '%s'", what);
    }
}

/* What belongs together; the flavour of a clock that has none. */
static void finish_parsing(struct argp_state *state, const struct raw *raw)
{
    struct options *options = raw->options;
    struct run *run = &options->run;
    const bool has_flavour = run->clock == HAFT_CLOCK_CALLER || run->clock == HAFT_CLOCK_THREAD;

    if (raw->has_time) {
        options->seconds = raw->minutes * 60 + raw->seconds;
    }
    if (options->seconds == 0) {
        argp_error(state, "--seconds and --minutes are 0");
    }
    if (!has_flavour && run->foreign_clock != NULL) {
        argp_error(state, "--flavour has no meaning with --clock %s", run->clock_name);
    }
    if (has_flavour && run->foreign_clock == NULL) {
        take_flavour(state, run, "memb");
    }
}

/* How long; false if it is another option. */
static bool take_time(struct raw *raw, int key, const char *value, struct argp_state *state)
{
    if (key == KEY_MINUTES) {
        raw->minutes = number(state, "minutes", value, 0, MOST_SECONDS / 60);
    } else if (key == KEY_SECONDS) {
        raw->seconds = number(state, "seconds", value, 0, MOST_SECONDS);
    } else {
        return false;
    }
    raw->has_time = true;
    return true;
}

static error_t take_option(int key, char *value, struct argp_state *state)
{
    struct raw *raw = state->input;
    struct options *options = raw->options;

    if (take_time(raw, key, value, state)) {
        return 0;
    }
    switch (key) {
    case KEY_CLOCK:
        take_clock(state, &options->run, value);
        return 0;
    case KEY_FLAVOUR:
        take_flavour(state, &options->run, value);
        return 0;
    case KEY_THREADS:
        options->run.threads = (unsigned)number(state, "threads", value, 2, MOST_THREADS);
        return 0;
    case KEY_PROFILE:
        take_profile(state, options, value);
        return 0;
    case KEY_LIST:
        list_profiles();
    case KEY_SEED:
        options->run.seed = number(state, "seed", value, 0, INT64_MAX);
        return 0;
    case KEY_BREAK:
        take_break(state, options, value);
        return 0;
    case KEY_JSON:
        options->as_json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "no argument is wanted, such as '%s'", value);
        return 0;
    case ARGP_KEY_END:
        finish_parsing(state, raw);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static uint64_t seed_of_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec + (uint64_t)getpid()) %
           1000000007;
}

struct options options_from(int argc, char **argv)
{
    static const struct argp argp = {argp_options, take_option, NULL, doc, NULL, NULL, NULL};
    struct options options = {
        .run = {.program = "torture",
                .threads = 4,
                .seed = seed_of_now(),
                .mode = "",
                .flavour_name = "none",
                .clock_name = "caller",
                .clock = HAFT_CLOCK_CALLER},
        .seconds = DEFAULT_SECONDS,
    };
    struct raw raw = {.options = &options};

    argp_err_exit_status = VERDICT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &raw);
    return options;
}

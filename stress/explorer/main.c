/*
 * explorer - runs the library's real code under chosen schedules.
 *
 * Each case is run under one schedule after the other, until an invariant breaks, no thread can
 * go on, a schedule does not end, ThreadSanitizer reports, or the schedules have been run.
 */
#include "stress/edges.h"
#include "stress/explorer/calls.h"
#include "stress/explorer/choice.h"
#include "stress/explorer/hooked.h"
#include "stress/explorer/report.h"
#include "stress/explorer/run.h"
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    const char *case_name; /* NULL: all */
    const char *memory;
    struct choice_options choice;
    struct run_options run;
    const char *broken; /* on purpose; NULL: nothing */
    bool as_json;
};

static const char usage[] =
    "Usage: explorer [options]\n"
    "\n"
    "Runs tiny programs on haft's real code under chosen schedules.\n"
    "\n"
    "  --case NAME         that case; all of them by default\n"
    "  --list              the cases and their invariants\n"
    "  --mode random       random priorities with change points (the default), or\n"
    "         exhaustive   all schedules within the bounds below\n"
    "  --memory sc         a load reads the newest store (the default), or\n"
    "           c11        any store that C11 lets it read\n"
    "  --schedules N       at most N; 2000, or all there are if exhaustive.  Random ones go on to\n"
    "                      ten times as many until one has met its race\n"
    "  --seed N            random: the first schedule's; schedule N + 1 is the next one's (1)\n"
    "  --depth N           random: change points and one (3)\n"
    "  --preemptions N     exhaustive: at most in one schedule (2)\n"
    "  --stale N           c11: exhaustive, loads of an older store at most in one schedule (1)\n"
    "  --replay TEXT       the schedule that a violation printed\n"
    "  --break WHAT        break the library on purpose: tag, grace, ticket, claim,\n"
    "                      retry, floor, look; or weaken an edge of haft/detail/atomics.h, as in\n"
    "                      PUBLISH\n"
    "  --json              a line of JSON for each case\n"
    "\n"
    "Exits with 0 if all held, 1 if a case never met its race, 3 at a violation, 4 if the\n"
    "output could not be written.\n"
    "\n"
    "Examples:\n"
    "  explorer --schedules 100000 --seed 7\n"
    "  explorer --case depot --mode exhaustive --preemptions 3\n"
    "  explorer --case publish --memory c11 --mode exhaustive --stale 2\n"
    "  explorer --case ring --memory c11 --schedules 40000 --break RING\n";

enum option_value {
    CASE,
    LIST,
    MODE,
    MEMORY,
    SCHEDULES,
    SEED,
    DEPTH,
    PREEMPTIONS,
    STALE,
    REPLAY,
    BREAK,
    JSON,
    HELP
};

static const struct option long_options[] = {
    {"case", required_argument, NULL, CASE},
    {"list", no_argument, NULL, LIST},
    {"mode", required_argument, NULL, MODE},
    {"memory", required_argument, NULL, MEMORY},
    {"schedules", required_argument, NULL, SCHEDULES},
    {"seed", required_argument, NULL, SEED},
    {"depth", required_argument, NULL, DEPTH},
    {"preemptions", required_argument, NULL, PREEMPTIONS},
    {"stale", required_argument, NULL, STALE},
    {"replay", required_argument, NULL, REPLAY},
    {"break", required_argument, NULL, BREAK},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static uint64_t number(const char *text)
{
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);

    if (end == text || *end != '\0') {
        usage_error("not a number:", text);
    }
    return value;
}

/* True for `first`, false for `second`. */
static bool either(const char *text, const char *first, const char *second)
{
    if (strcmp(text, first) != 0 && strcmp(text, second) != 0) {
        usage_error("no such word:", text);
    }
    return strcmp(text, first) == 0;
}

static void break_library(const char *what)
{
    for (int i = 0; i < BROKEN_COUNT; i++) {
        if (strcmp(what, broken_names[i]) == 0) {
            broken = (enum broken)i;
            return;
        }
    }
    if (!edge_weaken(what)) {
        usage_error("--break must be a word that --help names or an edge, not", what);
    }
}

static _Noreturn void list(void)
{
    for (const struct explored_case *at = all_cases; at != NULL; at = at->next) {
        printf("%-16s %u threads  %s\n", at->name, at->threads, at->invariant);
    }
    exit(end_output(VERDICT_HELD));
}

static _Noreturn void help(void)
{
    fputs(usage, stdout);
    exit(end_output(VERDICT_HELD));
}

/* An option that says which schedules; false if it is another one. */
static bool take_choice(struct choice_options *choice, int option, const char *value)
{
    switch (option) {
    case MODE:
        choice->mode = either(value, "random", "exhaustive") ? CHOICE_RANDOM : CHOICE_EXHAUSTIVE;
        return true;
    case SEED:
        choice->seed = number(value);
        return true;
    case DEPTH:
        choice->depth = (uint32_t)number(value);
        return true;
    case PREEMPTIONS:
        choice->preemptions = (uint32_t)number(value);
        return true;
    case STALE:
        choice->stale_reads = (uint32_t)number(value);
        return true;
    case REPLAY:
        choice->replay = value;
        return true;
    default:
        return false;
    }
}

static void take_option(struct arguments *arguments, int option, const char *value)
{
    switch (option) {
    case CASE:
        arguments->case_name = value;
        break;
    case LIST:
        list();
    case MEMORY:
        arguments->run.with_history = either(value, "c11", "sc");
        break;
    case SCHEDULES:
        arguments->run.schedules = number(value);
        break;
    case BREAK:
        break_library(value);
        arguments->broken = value;
        break;
    case JSON:
        arguments->as_json = true;
        break;
    case HELP:
        help();
    default:
        exit(VERDICT_USAGE);
    }
}

#define UNSET UINT64_MAX

static struct arguments arguments_from(int argc, char **argv)
{
    struct arguments arguments = {
        .choice =
            {.mode = CHOICE_RANDOM, .seed = 1, .depth = 3, .preemptions = 2, .stale_reads = 1},
        .run = {.schedules = UNSET},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (!take_choice(&arguments.choice, option, optarg)) {
            take_option(&arguments, option, optarg);
        }
    }
    if (optind != argc) {
        usage_error("no such argument:", argv[optind]);
    }
    if (arguments.choice.replay != NULL) {
        arguments.choice.mode = CHOICE_REPLAY;
        arguments.run.schedules = 1;
    }
    if (arguments.run.schedules == UNSET) {
        arguments.run.schedules = arguments.choice.mode == CHOICE_RANDOM ? 2000 : 0;
    }
    if (arguments.choice.mode == CHOICE_RANDOM) {
        arguments.run.longest = 10 * arguments.run.schedules;
    }
    if (!arguments.run.with_history) {
        arguments.choice.stale_reads = 0;
    }
    return arguments;
}

static const char *mode_name(enum choice_mode mode)
{
    static const char *const names[] = {"random", "exhaustive", "replay"};

    return names[mode];
}

static void print_counts(const struct explored_case *explored, const struct arguments *arguments,
                         const struct run_counts *counts)
{
    static const char *const formats[] = {
        "%-16s %-10s %-3s %8llu schedule%s (%llu distinct%s), race met in %llu, "
        "%.0f decisions and %.0f points each, %.0f schedules/s\n",
        "{\"case\": \"%s\", \"mode\": \"%s\", \"memory\": \"%s\", \"schedules\": %llu%.0s, "
        "\"distinct\": %llu%s, \"met\": %llu, \"decisions\": %.1f, \"points\": %.1f, "
        "\"schedules_per_second\": %.0f"};
    static const char *const completes[] = {", all there are", ", \"complete\": true"};
    const double schedules = (double)counts->schedules;

    printf(formats[arguments->as_json], explored->name, mode_name(arguments->choice.mode),
           arguments->run.with_history ? "c11" : "sc", (unsigned long long)counts->schedules,
           counts->schedules == 1 ? "" : "s", (unsigned long long)counts->distinct,
           counts->is_complete && arguments->choice.mode == CHOICE_EXHAUSTIVE
               ? completes[arguments->as_json]
               : "",
           (unsigned long long)counts->met, (double)counts->decisions / schedules,
           (double)counts->steps / schedules, schedules / counts->seconds);
    if (arguments->as_json) {
        calls_print();
        printf("}\n");
    }
    fflush(stdout);
}

/* False if the race was never met. */
static bool explore(const struct explored_case *explored, const struct arguments *arguments)
{
    static char options_text[64];

    snprintf(options_text, sizeof options_text, "%s%s%s",
             arguments->run.with_history ? " --memory c11" : "",
             arguments->broken != NULL ? " --break " : "",
             arguments->broken != NULL ? arguments->broken : "");
    report_case(explored->name, options_text);
    choice_open(&arguments->choice);
    const struct run_counts counts = run_case(explored, &arguments->run);

    print_counts(explored, arguments, &counts);
    const bool is_cut = arguments->choice.mode == CHOICE_EXHAUSTIVE && !counts.is_complete;

    if (counts.met == 0 && arguments->choice.mode != CHOICE_REPLAY && !is_cut) {
        fprintf(stderr, "explorer: %s: NEVER MET\n", explored->name);
        return false;
    }
    return true;
}

/* One thread runs at a time: on one processor the turn changes hands fastest. */
static void stay_on_one_processor(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
}

int main(int argc, char **argv)
{
    const struct arguments arguments = arguments_from(argc, argv);
    uint32_t explored = 0;
    bool all_met = true;

    stay_on_one_processor();
    for (const struct explored_case *at = all_cases; at != NULL; at = at->next) {
        if (arguments.case_name == NULL || strcmp(arguments.case_name, at->name) == 0) {
            all_met = explore(at, &arguments) && all_met;
            explored++;
        }
    }
    if (explored == 0) {
        usage_error("no such case:", arguments.case_name);
    }
    return end_output(all_met ? VERDICT_HELD : VERDICT_NOT_MET);
}

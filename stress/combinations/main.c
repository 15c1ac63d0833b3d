/*
 * combinations - plays random plans: every option with every other, every call beside and inside
 * every other, and a model that says what may happen.
 *
 * Each plan is played in a process that this one watches.  What breaks a rule is shrunk to the
 * fewest calls, threads and options, and printed as C.
 */
#include "examples/screen/terminal.h"
#include "stress/combinations/backend.h"
#include "stress/combinations/shrink.h"
#include "stress/combinations/watch.h"
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PLAYS_A_PROCESS 500
#define MOST_FOUND 64
#define SHRINKS_A_KIND 12 /* where a plan need not be played often */
/* Of the options: */
#define LONGEST 2592000 /* seconds: 30 days */
#define MOST_PLAYS (UINT64_C(1) << 62)
#define MOST_TIMES 1000000

/* Without short forms. */
enum key {
    KEY_MODE = 256,
    KEY_SECONDS,
    KEY_PLAYS,
    KEY_SEED,
    KEY_TIMES,
    KEY_PATIENCE,
    KEY_SHRINK,
    KEY_GO_ON,
    KEY_PAIRS,
    KEY_JSON
};

enum { HELD = 0, USAGE = 2, FOUND = 3 };

struct arguments {
    const char *mode;
    const char *pairs; /* a file's name, or NULL */
    uint64_t seconds;
    uint64_t plays; /* 0: until the time is over */
    uint64_t seed;
    uint32_t times;
    uint32_t patience; /* seconds */
    uint32_t shrink_seconds;
    bool goes_on; /* after the first find */
    bool as_json;
};

static struct arguments arguments;
static double end; /* of the search, as watch_seconds() */
static int errors; /* a file for what played processes print */

static const char doc[] =
    "Plays random plans on haft's tables: options, threads, calls and callbacks of all kinds "
    "together.\v"
    "A plan that breaks a rule is shrunk and printed as C.  Modes: turns, threads take turns with "
    "whole calls and every answer is known; threads, they run at once; schedules, they run under "
    "the explorer's scheduler.  A seed always draws the same plan.  Its play is the same again "
    "with schedules; in turns, unless the plan has the thread clock or a guest; with threads it "
    "differs.\n"
    "\n"
    "To keep a find as a test: its plan into stress/combinations/found/NAME.c, and NAME with its "
    "mode into the list at the end of stress/combinations/BUILD.\n"
    "\n"
    "./dev combinations --every-mode plays in all modes, and says which features have met.\n"
    "\n"
    "Exit status: 0 all rules held, 2 bad options or a file that cannot be written, 3 a rule was "
    "broken, 130 or 143 interrupted, after the finds until then.\n"
    "\n"
    "Examples:\n"
    "  ./dev combinations --seconds 600\n"
    "  ./dev combinations --mode threads --seed 7 --seconds 60\n"
    "  ./dev combinations --seed 1234 --plays 1    # a find again\n";

static const struct argp_option options[] = {
    {"mode", KEY_MODE, "NAME", 0, "how threads are played (turns)", 0},
    {"seconds", KEY_SECONDS, "N", 0, "for N seconds at most (30)", 0},
    {"plays", KEY_PLAYS, "N", 0, "N plans at most (0: as many as the seconds allow)", 0},
    {"seed", KEY_SEED, "N", 0,
     "of the first plan; the next one has the next; by default of the time", 0},
    {"times", KEY_TIMES, "N", 0, "each plan N times, or under N schedules (20), unless in turns",
     0},
    {"patience", KEY_PATIENCE, "N", 0, "a play that takes more than N seconds is a find (300)", 0},
    {"shrink", KEY_SHRINK, "N", 0, "each find, for N seconds at most (60)", 0},
    {"go-on", KEY_GO_ON, NULL, 0, "look for others after the first find", 0},
    {"pairs", KEY_PAIRS, "FILE", 0,
     "how often two features came together, and the seed of the first play, as JSON", 0},
    {"json", KEY_JSON, NULL, 0, "the counts and finds as a line of JSON", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

/* More than UINT64_MAX reads as that, which is more than any `most`. */
static uint64_t number(struct argp_state *state, const char *name, const char *text, uint64_t least,
                       uint64_t most)
{
    char *rest;
    const unsigned long long value = strtoull(text, &rest, 10);

    if (rest == text || *rest != '\0' || *text == '-' || value < least || value > most) {
        argp_failure(state, USAGE, 0, "--%s takes a number from %llu to %llu, not '%s'", name,
                     (unsigned long long)least, (unsigned long long)most, text);
    }
    return value;
}

static const char *mode_named(struct argp_state *state, const char *name)
{
    for (const char *const *mode = backend_modes; *mode != NULL; mode++) {
        if (strcmp(*mode, name) == 0) {
            return *mode;
        }
    }
    argp_failure(state, USAGE, 0, "--mode takes %s%s%s, not '%s'", backend_modes[0],
                 backend_modes[1] != NULL ? " or " : "",
                 backend_modes[1] != NULL ? backend_modes[1] : "", name);
    return NULL;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    switch (key) {
    case KEY_MODE:
        arguments.mode = mode_named(state, text);
        return 0;
    case KEY_SECONDS:
        arguments.seconds = number(state, "seconds", text, 1, LONGEST);
        return 0;
    case KEY_PLAYS:
        arguments.plays = number(state, "plays", text, 0, MOST_PLAYS);
        return 0;
    case KEY_SEED:
        arguments.seed = number(state, "seed", text, 0, MOST_PLAYS);
        return 0;
    case KEY_TIMES:
        arguments.times = (uint32_t)number(state, "times", text, 1, MOST_TIMES);
        return 0;
    case KEY_PATIENCE:
        arguments.patience = (uint32_t)number(state, "patience", text, 1, LONGEST);
        return 0;
    case KEY_SHRINK:
        arguments.shrink_seconds = (uint32_t)number(state, "shrink", text, 0, LONGEST);
        return 0;
    case KEY_GO_ON:
        arguments.goes_on = true;
        return 0;
    case KEY_PAIRS:
        arguments.pairs = text;
        return 0;
    case KEY_JSON:
        arguments.as_json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- playing --- */

static void play_drawn(uint64_t from, uint64_t count)
{
    static struct plan plan;

    for (uint64_t i = 0; i < count && watch_seconds() < end; i++) {
        watch->seed = from + i;
        plan_draw(&plan, from + i, backend_is_at_once(arguments.mode));
        backend_play(&plan, arguments.mode, arguments.times);
        atomic_fetch_add(&watch->plays, 1);
    }
}

static void play_given(uint64_t from, uint64_t count)
{
    (void)from;
    (void)count;
    backend_play(&watch->plan, arguments.mode, 20 * arguments.times);
}

static char shrunk_kind[KIND_SIZE];

/* Seconds for all plays of a smaller plan: more, where one that is slow would count as endless. */
#define PATIENCE_SHRINKING 3
#define PATIENCE_ENDLESS 30

/* Chance has a part in threads at once too: play_given() plays these often. */
static bool still_breaks(const struct plan *plan)
{
    const double patience =
        strcmp(shrunk_kind, ENDLESS) == 0 ? PATIENCE_ENDLESS : PATIENCE_SHRINKING;

    for (uint32_t i = 0; i < plan_tries(&plan->options); i++) {
        watch->plan = *plan;
        if (!watch_run(play_given, 0, 1, patience, errors) &&
            strcmp(watch->kind, shrunk_kind) == 0) {
            return true;
        }
    }
    return false;
}

/* --- finds --- */

struct find {
    char kind[KIND_SIZE];
    char detail[sizeof watch->detail];
    bool calls[CALL_COUNT]; /* of its plan; those of callbacks too */
    double seconds;         /* of a processor, after which it was found first; without shrinking */
    uint64_t seed;
    char *plan;    /* as C */
    char *printed; /* by the process that broke the rule */
};

static double shrink_seconds; /* seconds of a processor that it took until now */
static struct find finds[MOST_FOUND];
static uint32_t find_count;

static void note_calls(bool *calls, const struct step *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        calls[steps[i].call] = true;
    }
}

static uint32_t finds_of(const char *kind)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < find_count; i++) {
        found += strcmp(finds[i].kind, kind) == 0;
    }
    return found;
}

static void print_find(const struct find *find)
{
    if (arguments.as_json) {
        return;
    }
    printf("\ncombinations: %s%s%s%s after %.1f s of a processor, seed %llu\n"
           "again with: ./dev combinations --mode %s --seed %llu --plays 1\n%s%s",
           find->kind, find->detail[0] != '\0' ? " (" : "", find->detail,
           find->detail[0] != '\0' ? ")" : "", find->seconds, (unsigned long long)find->seed,
           arguments.mode, (unsigned long long)find->seed, find->plan, find->printed);
    fflush(stdout);
}

static char *or_die(char *text)
{
    if (text == NULL) {
        perror("combinations");
        exit(USAGE);
    }
    return text;
}

static char *text_of(const struct plan *plan)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (file != NULL) {
        plan_print(file, plan);
        fclose(file);
    }
    return or_die(text);
}

static void note_find(const struct plan *plan, double seconds, uint64_t seed, const char *printed)
{
    struct find find = {.seconds = seconds, .seed = seed};

    note_calls(find.calls, plan->steps, plan->step_count);
    note_calls(find.calls, plan->on_reclaim, plan->reclaim_count);
    snprintf(find.kind, sizeof find.kind, "%s", shrunk_kind);
    snprintf(find.detail, sizeof find.detail, "%s", watch->detail);
    for (uint32_t i = 0; i < find_count; i++) {
        if (strcmp(finds[i].kind, find.kind) == 0 &&
            memcmp(finds[i].calls, find.calls, sizeof find.calls) == 0) {
            return;
        }
    }
    if (find_count < MOST_FOUND) {
        find.plan = text_of(plan);
        find.printed = or_die(strdup(printed));
        finds[find_count++] = find;
        print_find(&find);
    }
}

/* The play of watch->seed has broken a rule: shrinks its plan, and prints it if it is a new one. */
static void look_into(void)
{
    static struct plan plan;
    char detail[sizeof watch->detail];
    const double used = watch_processor_seconds();
    const uint64_t seed = watch->seed;

    memcpy(shrunk_kind, watch->kind, KIND_SIZE);
    memcpy(detail, watch->detail, sizeof detail);
    if (finds_of(shrunk_kind) >= (backend_is_at_once(arguments.mode) ? 2 : SHRINKS_A_KIND)) {
        return;
    }
    char *printed = or_die(strdup(watch_printed(errors)));

    plan_draw(&plan, seed, backend_is_at_once(arguments.mode));
    if (still_breaks(&plan)) {
        shrink(&plan, still_breaks, arguments.shrink_seconds);
        still_breaks(&plan);
    } else {
        snprintf(watch->detail, sizeof watch->detail, "once, not when played again%s%.200s",
                 detail[0] != '\0' ? ": " : "", detail);
    }
    note_find(&plan, used - shrink_seconds, seed, printed);
    free(printed);
    shrink_seconds += watch_processor_seconds() - used;
}

/* --- the run --- */

/* Of --plays; none are left where there is no such bound. */
static uint64_t plays_left(void)
{
    return arguments.plays > watch->plays ? arguments.plays - watch->plays : 0;
}

static bool is_over(void)
{
    return watch_interrupted() != 0 || watch_seconds() > end ||
           (arguments.plays != 0 && plays_left() == 0) || (find_count != 0 && !arguments.goes_on);
}

static void show_progress(double begun)
{
    const double seconds = watch_seconds() - begun;
    char text[128];

    if (isatty(STDERR_FILENO)) {
        snprintf(text, sizeof text, "%.0f s, %llu plans, %u found", seconds,
                 (unsigned long long)watch->plays, find_count);
        terminal_line(seconds / (double)arguments.seconds, text);
    }
}

static void print_json(double seconds)
{
    json_t *found = json_array();

    for (uint32_t i = 0; i < find_count; i++) {
        const struct find *find = &finds[i];

        json_array_append_new(found, json_pack("{s:s, s:s, s:f, s:I, s:s, s:s}", "rule", find->kind,
                                               "detail", find->detail, "seconds", find->seconds,
                                               "seed", (json_int_t)find->seed, "plan", find->plan,
                                               "printed", find->printed));
    }
    json_t *all = json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:o}", "mode", arguments.mode, "seed",
                            (json_int_t)arguments.seed, "plans", (json_int_t)watch->plays, "calls",
                            (json_int_t)watch->calls, "seconds", seconds, "processor_seconds",
                            watch_processor_seconds(), "found", found);

    json_dumpf(all, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(all);
}

static const char *why_it_ended(void)
{
    if (watch_interrupted() != 0) {
        return "; interrupted";
    }
    return watch_seconds() > end && plays_left() != 0 ? "; the time was over before all --plays"
                                                      : "";
}

static void print_counts(double seconds)
{
    if (arguments.as_json) {
        print_json(seconds);
        return;
    }
    printf("combinations: %s, seed %llu: %llu plan%s, %llu calls, %.0f s, %u found%s\n",
           arguments.mode, (unsigned long long)arguments.seed, (unsigned long long)watch->plays,
           watch->plays == 1 ? "" : "s", (unsigned long long)watch->calls, seconds, find_count,
           why_it_ended());
}

static void run(void)
{
    const double begun = watch_seconds();
    uint64_t seed = arguments.seed;

    end = begun + (double)arguments.seconds;

    while (!is_over()) {
        const uint64_t left = arguments.plays != 0 ? plays_left() : UINT64_MAX;
        const uint64_t count = left < PLAYS_A_PROCESS ? left : PLAYS_A_PROCESS;

        if (watch_run(play_drawn, seed, count, arguments.patience, errors)) {
            seed += count;
        } else {
            seed = watch->seed + 1;
            atomic_fetch_add(&watch->plays, 1);
            look_into();
        }
        show_progress(begun);
    }
    if (isatty(STDERR_FILENO)) {
        terminal_line_end();
    }
    print_counts(watch_seconds() - begun);
}

static void fail_to_write(const char *name)
{
    fprintf(stderr, "combinations: %s: %s\n", name, strerror(errno));
    exit(USAGE);
}

/* Before the first play: a file that cannot be written must not be found out after the last. */
static FILE *open_pairs(const char *name)
{
    FILE *file = name != NULL ? fopen(name, "w") : NULL;

    if (name != NULL && file == NULL) {
        fail_to_write(name);
    }
    return file;
}

static void write_pairs(FILE *file)
{
    if (file != NULL) {
        cover_write(file, &watch->cover);
        if (fclose(file) != 0) {
            fail_to_write(arguments.pairs);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {.options = options, .parser = parse, .doc = doc};

    arguments = (struct arguments){.mode = backend_modes[0],
                                   .seconds = 30,
                                   .seed = (uint64_t)time(NULL),
                                   .times = 20,
                                   .patience = 300,
                                   .shrink_seconds = 60};
    if (argp_parse(&argp, argc, argv, 0, NULL, NULL) != 0) {
        return USAGE;
    }
    FILE *pairs = open_pairs(arguments.pairs);

    errors = memfd_create("errors", 0);
    watch_open();
    run();
    write_pairs(pairs);
    if (fflush(stdout) != 0) {
        fail_to_write("output");
    }
    if (watch_interrupted() != 0) {
        return 128 + watch_interrupted();
    }
    return find_count != 0 ? FOUND : HELD;
}

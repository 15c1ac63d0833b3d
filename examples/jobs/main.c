/* jobs_glib, jobs_libuv, jobs_openmp, jobs_tbb - the same jobs on one of four job systems. */
#include "examples/ck/clock.h"
#include "examples/screen/output.h"
#include "examples/screen/text.h"
#include "jobs.h"
#include <getopt.h>
#include <haft/urcu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RIGHT, WRONG, REFUSED, SYSTEM };

static const char help[] =
    "Usage: %1$s [OPTION...]\n"
    "\n"
    "Runs 500,000 jobs on %2$s.  They share one haft table and\n"
    "hand each other ids: spawn jobs make monsters, hit jobs take their lives.\n"
    "\n"
    "Options:\n"
    "  --threads N     2 to 64 (default: 4)\n"
    "  --clock NAME    memb or qsbr (liburcu's read sections; the jobs drive the clock),\n"
    "                  ck (those of Concurrency Kit's ck_epoch), thread (memb, driven by a\n"
    "                  thread of haft's own), workers, or frame where the system has frames\n"
    "                  (default: %3$s)\n"
    "  --block MS      one job blocks until all monsters are dead, and MS milliseconds\n"
    "                  at most; it may still use what it resolved\n"
    "  --let-go        it does not: it ends its read section and goes offline first\n"
    "  --stall MS      report a grace period that lasts longer (default: 1000)\n"
    "  --help          print this\n"
    "\n"
    "Exit status: 0 if each monster died once and each hit was counted, 1 if not, 2 for\n"
    "options that are not acceptable, 3 if the system gave no memory or threads,\n"
    "or took no output.\n"
    "\n"
    "Examples:\n"
    "  %1$s --threads 8\n"
    "  %1$s --clock qsbr --block 500 --stall 100\n"
    "  %1$s --clock qsbr --block 5000 --let-go\n";

static const haft_foreign_clock *ck_epoch_clock(void)
{
    return &ck_clock;
}

static const haft_foreign_clock *none(void)
{
    return NULL;
}

static const struct {
    const char *name;
    haft_clock clock;
    const haft_foreign_clock *(*foreign_clock)(void);
} clocks[] = {
    {"memb", HAFT_CLOCK_CALLER, haft_urcu_memb}, {"qsbr", HAFT_CLOCK_CALLER, haft_urcu_qsbr},
    {"ck", HAFT_CLOCK_CALLER, ck_epoch_clock},   {"thread", HAFT_CLOCK_THREAD, haft_urcu_memb},
    {"workers", HAFT_CLOCK_WORKERS, none},       {"frame", HAFT_CLOCK_FRAME, none},
};
enum { CLOCKS = sizeof clocks / sizeof clocks[0] };

/* --- options --- */

static void refuse(const char *option, const char *what, const char *given)
{
    fprintf(stderr, "%s: --%s must be %s, not '%s'; --help says more\n", job_system.name, option,
            what, given);
    exit(REFUSED);
}

static unsigned parse_number(const char *option, const char *text, unsigned least, unsigned most)
{
    char *end;
    const long number = strtol(text, &end, 10);

    if (end == text || *end != '\0' || number < (long)least || number > (long)most) {
        char range[64];

        snprintf(range, sizeof range, "from %u to %u", least, most);
        refuse(option, range, text);
    }
    return (unsigned)number;
}

static void take_clock(struct setting *setting, const char *name)
{
    for (int i = 0; i < CLOCKS; i++) {
        if (strcmp(name, clocks[i].name) == 0 &&
            (clocks[i].clock != HAFT_CLOCK_FRAME || job_system.has_frames)) {
            setting->clock = clocks[i].clock;
            setting->foreign_clock = clocks[i].foreign_clock();
            return;
        }
    }
    refuse("clock",
           job_system.has_frames ? "memb, qsbr, ck, thread, workers or frame"
                                 : "memb, qsbr, ck, thread or workers",
           name);
}

static const char *clock_name(haft_clock clock)
{
    int i = 0;

    while (clocks[i].clock != clock) {
        i++;
    }
    return clocks[i].name;
}

static const struct option options[] = {
    {"threads", required_argument, NULL, 't'},
    {"clock", required_argument, NULL, 'c'},
    {"block", required_argument, NULL, 'b'},
    {"let-go", no_argument, NULL, 'l'},
    {"stall", required_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static struct setting parse(int argc, char **argv)
{
    struct setting setting = {.threads = 4, .stall_ms = 1000};
    int option;

    take_clock(&setting, clock_name(job_system.clock));
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case 't':
            setting.threads = parse_number("threads", optarg, 2, 64);
            break;
        case 'c':
            take_clock(&setting, optarg);
            break;
        case 'b':
            setting.block_ms = parse_number("block", optarg, 1, 60000);
            break;
        case 'l':
            setting.lets_go = true;
            break;
        case 's':
            setting.stall_ms = parse_number("stall", optarg, 1, 60000);
            break;
        case 'h':
            printf(help, job_system.name, job_system.title, clock_name(job_system.clock));
            exit(end_output(job_system.name, RIGHT, SYSTEM));
        default: /* getopt has said what is wrong */
            fprintf(stderr, "%s: --help says more\n", job_system.name);
            exit(REFUSED);
        }
    }
    if (optind != argc) {
        fprintf(stderr, "%s: '%s' is no option; --help says more\n", job_system.name, argv[optind]);
        exit(REFUSED);
    }
    return setting;
}

/* --- the run --- */

static void report(const struct jobs *jobs, const struct outcome *outcome)
{
    const haft_table_stats stats = haft_table_stats_get(jobs->table);

    printf("%s deaths, %s hits too late; %s monsters lived in %s slots\n", grouped(outcome->deaths),
           grouped(outcome->late), grouped(MONSTERS), grouped(stats.high_water));
    printf("%s grace period%s, the longest %s; %s stall%s\n", grouped(stats.clock.grace_periods),
           plural(stats.clock.grace_periods), duration(stats.clock.longest_grace_period_ns),
           grouped(stats.clock.stalls), plural(stats.clock.stalls));
    if (jobs->setting.block_ms != 0) {
        printf("a job blocked for %s: meanwhile %s grace period%s ended, %s monster%s died\n",
               duration(outcome->blocked_ns), grouped(outcome->blocked_grace_periods),
               plural(outcome->blocked_grace_periods), grouped(outcome->blocked_deaths),
               plural(outcome->blocked_deaths));
    }
}

static bool open_table(struct jobs *jobs)
{
    const haft_domain_options clock = {
        .foreign_clock = jobs->setting.foreign_clock,
        .clock = jobs->setting.clock,
        .stall_ns = jobs->setting.stall_ms * UINT64_C(1000000),
    };
    const haft_table_options monsters = {
        .name = "monsters",
        .capacity = AT_ONCE,
        .object_size = sizeof(int),
    };

    return haft_domain_open(&clock, &jobs->domain) == HAFT_OK &&
           haft_table_open(jobs->domain, &monsters, &jobs->table) == HAFT_OK;
}

int main(int argc, char **argv)
{
    struct jobs jobs = {.setting = parse(argc, argv)};

    if (!open_table(&jobs) || !job_system_run(&jobs)) {
        fprintf(stderr, "%s: no memory or no threads\n", job_system.name);
        return SYSTEM;
    }
    crew_await(&jobs);
    const struct outcome outcome = monsters_outcome();

    report(&jobs, &outcome);
    const bool right = outcome.deaths == MONSTERS && outcome.late == MONSTERS * (HITS - LIVES) &&
                       haft_table_close(jobs.table) == HAFT_OK &&
                       haft_domain_close(jobs.domain) == HAFT_OK;

    return end_output(job_system.name, right ? RIGHT : WRONG, SYSTEM);
}

/* What a run has done and met; see report.h. */
#include "stress/torture/report.h"
#include <stdio.h>

#define WIDTH 40

/* --- for people --- */

void report_begin(const struct options *options)
{
    const struct run *run = &options->run;

    if (options->as_json) {
        return;
    }
    printf("torture: %llu s, %s clock, flavour %s, threads %u, profile %s, seed %llu\n",
           (unsigned long long)options->seconds, run->clock_name, run->flavour_name, run->threads,
           options->profile != NULL ? options->profile->name : "all",
           (unsigned long long)run->seed);
    fflush(stdout);
}

static void print_bar(uint64_t part, uint64_t most)
{
    static const char hashes[] = "########################################";

    printf(" %.*s\n", (int)(most == 0 ? 0 : part * WIDTH / most), hashes);
}

/* The rows from the first to the last that is not 0. */
static void print_histogram(const char *title, const uint64_t *values, unsigned count,
                            void (*print_label)(unsigned place))
{
    uint64_t most = 0;
    unsigned end = 1;

    for (unsigned i = 0; i < count; i++) {
        most = values[i] > most ? values[i] : most;
        end = values[i] != 0 ? i + 1 : end;
    }
    printf("%s\n", title);
    for (unsigned i = 0; i < end; i++) {
        print_label(i);
        printf(" %14llu", (unsigned long long)values[i]);
        print_bar(values[i], most);
    }
}

static void print_age(unsigned place)
{
    printf("  %9u%s", place, place == AGES - 1 ? "+" : " ");
}

static void print_free_age(unsigned place)
{
    printf("  %9llu ", place == 0 ? 0 : (unsigned long long)1 << (place - 1));
}

static void print_counts(const struct result *result)
{
    for (int i = 0; i < COUNT_KINDS; i++) {
        if (result->sum.counts[i] != 0) {
            printf("  %14llu  %s\n", (unsigned long long)result->sum.counts[i], count_texts[i]);
        }
    }
    if (result->stalls != 0) {
        printf("  %14llu  stall%s reported\n", (unsigned long long)result->stalls,
               result->stalls == 1 ? "" : "s");
    }
}

static void print_profiles(const struct result *result)
{
    printf("%-10s %7s %14s %14s %14s\n", "profile", "plays", "freed", "held & freed", "its race");
    for (size_t i = 0; i < PROFILES; i++) {
        const struct tally *tally = &result->by_profile[i];
        const char *not_met = result->is_interrupted ? "  not met yet" : "  NEVER MET";

        if (result->plays[i] == 0) {
            continue;
        }
        printf("%-10s %7llu %14llu %14llu %14llu%s\n", profiles[i].name,
               (unsigned long long)result->plays[i], (unsigned long long)tally->counts[COUNT_FREED],
               (unsigned long long)tally->counts[COUNT_OUTLIVED],
               (unsigned long long)tally->counts[profiles[i].met],
               has_met(result, i) ? "" : not_met);
    }
}

static void print_verdict(const struct options *options, const struct result *result)
{
    const double seconds = (double)result->elapsed_ns / 1e9;

    if (result->is_interrupted) {
        printf("\ntorture: interrupted after %.1f s of %llu, no violation\n", seconds,
               (unsigned long long)options->seconds);
    } else {
        printf("\ntorture: %.1f s, no violation%s\n", seconds,
               result->not_met == 0 ? "" : ", but a race was NEVER MET");
    }
}

static void print_for_people(const struct options *options, const struct result *result)
{
    print_profiles(result);
    printf("\n");
    print_counts(result);
    printf("\n");
    print_histogram("Freed while held: grace periods that had ended since, at the last look",
                    result->sum.ages, AGES, print_age);
    print_histogram("Freed while held: frees since (this many or more)", result->sum.free_ages,
                    FREE_AGES, print_free_age);
    print_verdict(options, result);
}

/* --- for programs --- */

static void print_array(const char *name, const uint64_t *values, unsigned count)
{
    printf("  \"%s\": [", name);
    for (unsigned i = 0; i < count; i++) {
        printf("%s%llu", i == 0 ? "" : ", ", (unsigned long long)values[i]);
    }
    printf("],\n");
}

static void print_profiles_as_json(const struct result *result)
{
    const char *separator = "";

    printf("  \"profiles\": {");
    for (size_t i = 0; i < PROFILES; i++) {
        if (result->plays[i] != 0) {
            printf("%s\n    \"%s\": {\"plays\": %llu, \"freed\": %llu, \"met\": %s}", separator,
                   profiles[i].name, (unsigned long long)result->plays[i],
                   (unsigned long long)result->by_profile[i].counts[COUNT_FREED],
                   has_met(result, i) ? "true" : "false");
            separator = ",";
        }
    }
    printf("\n  }\n");
}

static void print_as_json(const struct options *options, const struct result *result)
{
    const struct run *run = &options->run;

    printf("{\n  \"seconds\": %.1f,\n  \"interrupted\": %s,\n  \"clock\": \"%s\",\n",
           (double)result->elapsed_ns / 1e9, result->is_interrupted ? "true" : "false",
           run->clock_name);
    if (run->foreign_clock != NULL) {
        printf("  \"flavour\": \"%s\",\n", run->flavour_name);
    } else {
        printf("  \"flavour\": null,\n");
    }
    printf("  \"threads\": %u,\n  \"seed\": %llu,\n  \"violations\": 0,\n", run->threads,
           (unsigned long long)run->seed);
    for (int i = 0; i < COUNT_KINDS; i++) {
        printf("  \"%s\": %llu,\n", count_names[i], (unsigned long long)result->sum.counts[i]);
    }
    printf("  \"stalls\": %llu,\n", (unsigned long long)result->stalls);
    print_array("ages_in_grace_periods", result->sum.ages, AGES);
    print_array("ages_in_frees_log2", result->sum.free_ages, FREE_AGES);
    print_profiles_as_json(result);
    printf("}\n");
}

void report(const struct options *options, const struct result *result)
{
    if (options->as_json) {
        print_as_json(options, result);
    } else {
        print_for_people(options, result);
    }
    fflush(stdout);
}

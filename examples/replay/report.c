#include "report.h"
#include "examples/screen/text.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t per_second(const struct result *result)
{
    const double seconds = (double)result->elapsed_ns / 1e9;

    return seconds > 0 ? (uint64_t)((double)result->sum.rows / seconds) : 0;
}

/* --- for people --- */

static void print_input(const struct options *options, const struct trace *trace)
{
    printf("%s\n", trace->path);
    printf("  %s row%s by %u thread%s on %s object%s\n", grouped(trace->row_count),
           plural(trace->row_count), trace->thread_count, plural(trace->thread_count),
           grouped(trace->object_count), plural(trace->object_count));
    printf("  replayed %s time%s by %u worker%s; %s%s%s clock, seed %" PRIu64 "\n\n",
           grouped(options->repeat), plural(options->repeat), options->workers,
           plural(options->workers), options->flavour_name != NULL ? options->flavour_name : "",
           options->flavour_name != NULL ? ", " : "", options->clock_name, options->seed);
}

static void print_figures(const struct result *result)
{
    const struct tally *sum = &result->sum;
    const haft_table_stats *stats = &result->stats;
    const struct latency *latency = &sum->latency;

    printf("  %14s  operation%s in %s, %s a second\n", grouped(sum->rows), plural(sum->rows),
           duration(result->elapsed_ns), grouped(per_second(result)));
    printf("  %14s  slot%s at most; %s grace period%s, the longest %s\n",
           grouped(stats->high_water), plural(stats->high_water),
           grouped(stats->clock.grace_periods), plural(stats->clock.grace_periods),
           duration(stats->clock.longest_grace_period_ns));
    printf("  %14s  a call (p50), %s (p99), %s (max); the clock alone %s\n\n",
           duration(latency_at(latency, 0.5)), duration(latency_at(latency, 0.99)),
           duration(latency->max), duration(latency_of_clock()));
}

static void print_checks(const struct result *result)
{
    const struct tally *sum = &result->sum;

    printf("Checked\n");
    printf("  %14s  use%s that found %s own object\n", grouped(sum->uses), plural(sum->uses),
           sum->uses == 1 ? "its" : "their");
    printf("  %14s  free%s that won, each once; %s not where it was allocated\n",
           grouped(sum->frees), plural(sum->frees), grouped(sum->cross_worker_frees));
    printf("  %14s  second free%s of an id, all refused; %s with a new object in the slot\n",
           grouped(sum->refused_frees), plural(sum->refused_frees), grouped(sum->collisions));
    printf("  %14s  look%s at ids of freed objects, all stale\n", grouped(sum->stale_checks),
           plural(sum->stale_checks));
    printf("  %14s  object%s reclaimed, each once; %s left over\n\n", grouped(sum->reclaimed),
           plural(sum->reclaimed), grouped(result->stats.live));
}

void report_print(const struct options *options, const struct trace *trace,
                  const struct result *result)
{
    const uint64_t wrong = result->sum.wrong_answers;

    print_input(options, trace);
    print_figures(result);
    if (wrong == 0) {
        print_checks(result);
        printf("All answers were right.\n");
    } else {
        printf("%s answer%s WRONG.\n", grouped(wrong), wrong == 1 ? " was" : "s were");
    }
}

void report_complaints(const struct result *result)
{
    const struct complaints *complaints = &result->complaints;

    for (unsigned i = 0; i < complaints->count; i++) {
        fprintf(stderr, "replay: wrong: %s\n", complaints->texts[i]);
    }
    if (result->sum.wrong_answers > complaints->count) {
        fprintf(stderr, "replay: wrong: %s more\n",
                grouped(result->sum.wrong_answers - complaints->count));
    }
}

/* --- for programs --- */

static void set(json_t *object, const char *key, uint64_t number)
{
    json_object_set_new(object, key, json_integer((json_int_t)number));
}

static json_t *latency_as_json(const struct latency *latency)
{
    json_t *object = json_object();

    set(object, "p50", latency_at(latency, 0.5));
    set(object, "p99", latency_at(latency, 0.99));
    set(object, "max", latency->max);
    set(object, "clock_read", latency_of_clock());
    return object;
}

static void set_options(json_t *object, const struct options *options)
{
    set(object, "workers", options->workers);
    set(object, "repeat", options->repeat);
    json_object_set_new(object, "flavour",
                        options->flavour_name != NULL ? json_string(options->flavour_name)
                                                      : json_null());
    json_object_set_new(object, "clock", json_string(options->clock_name));
    set(object, "seed", options->seed);
}

void report_print_json(const struct options *options, const struct result *result)
{
    const struct tally *sum = &result->sum;
    json_t *object = json_object();

    set(object, "operations", sum->rows);
    set(object, "operations_per_second", per_second(result));
    set(object, "wrong_answers", sum->wrong_answers);
    set(object, "objects", sum->allocations);
    set(object, "cross_thread_frees", result->cross_thread_frees);
    set(object, "cross_worker_frees", sum->cross_worker_frees);
    set_options(object, options);
    set(object, "peak_slots", result->stats.high_water);
    json_object_set_new(object, "latency_ns", latency_as_json(&sum->latency));
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

    puts(text);
    free(text);
    json_decref(object);
}

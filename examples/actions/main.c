/* actions - events in, described shell commands out; one arena, reset each round. */
#include "examples/screen/output.h"
#include "examples/screen/text.h"
#include "loop.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* --- for people --- */

static void print_result(const struct options *options, const struct result *result)
{
    printf("%s round%s, seed %" PRIu64 ": events into commands, none of which was run\n\n",
           grouped(options->rounds), plural(options->rounds), options->seed);
    for (uint64_t i = 0; i < SAMPLE && i < result->actions; i++) {
        printf("  %s\n", result->sample[i]);
    }
    if (result->actions > SAMPLE) {
        printf("  ... and %s more\n", grouped(result->actions - SAMPLE));
    }
    printf("\nEvents\n");
    for (int kind = 0; kind < KINDS; kind++) {
        printf("  %14s  %s\n", grouped(result->events[kind]), kind_names[kind]);
    }
    printf("\nMemory\n");
    printf("  %14s  bytes of commands in %s action%s\n", grouped(result->bytes),
           grouped(result->actions), plural(result->actions));
    printf("  %14s  bytes that the largest round took of the arena\n",
           grouped(result->arena.high_water));
    printf("  %14s  bytes that the arena has, used again %s time%s\n\n",
           grouped(result->arena.capacity), grouped(options->rounds - 1),
           plural(options->rounds - 1));
    printf("%s ns a round; digest %016" PRIx64 "\n", grouped(result->elapsed_ns / options->rounds),
           result->digest);
}

/* --- for programs --- */

static void set(json_t *object, const char *key, uint64_t number)
{
    json_object_set_new(object, key, json_integer((json_int_t)number));
}

static json_t *memory_as_json(const haft_arena_stats *stats)
{
    json_t *object = json_object();

    set(object, "used", stats->used);
    set(object, "high_water", stats->high_water);
    set(object, "capacity", stats->capacity);
    return object;
}

static json_t *sample_as_json(const struct result *result)
{
    json_t *array = json_array();

    for (uint64_t i = 0; i < SAMPLE && i < result->actions; i++) {
        json_array_append_new(array, json_string(result->sample[i]));
    }
    return array;
}

static void print_json(const struct options *options, const struct result *result)
{
    json_t *object = json_object();
    json_t *events = json_object();
    char digest[20];

    for (int kind = 0; kind < KINDS; kind++) {
        set(events, kind_names[kind], result->events[kind]);
    }
    snprintf(digest, sizeof digest, "%016" PRIx64, result->digest);
    set(object, "rounds", options->rounds);
    set(object, "seed", options->seed);
    set(object, "actions", result->actions);
    json_object_set_new(object, "events", events);
    set(object, "command_bytes", result->bytes);
    json_object_set_new(object, "digest", json_string(digest));
    json_object_set_new(object, "sample", sample_as_json(result));
    json_object_set_new(object, "arena", memory_as_json(&result->arena));
    set(object, "ns_per_round", result->elapsed_ns / options->rounds);
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

    puts(text);
    free(text);
    json_decref(object);
}

int main(int argc, char **argv)
{
    struct options options;
    struct result result;
    GError *error = NULL;

    if (!options_parse(&options, argc, argv, &error)) {
        fprintf(stderr, "actions: %s\n", error->message);
        g_error_free(error);
        return EXIT_REFUSED;
    }
    const haft_status status = run_loop(&options, &result);

    if (status != HAFT_OK) {
        fprintf(stderr, "actions: %s\n", haft_status_text(status));
        return EXIT_SYSTEM;
    }
    if (options.json) {
        print_json(&options, &result);
    } else {
        print_result(&options, &result);
    }
    if (result.leaked) {
        fprintf(stderr, "actions: the arena was not empty after a reset\n");
    }
    return end_output("actions", result.leaked ? EXIT_WRONG : EXIT_RIGHT, EXIT_SYSTEM);
}

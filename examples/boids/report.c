#include "report.h"
#include "examples/screen/text.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

void report_print(const struct options *options, const struct world *world, int64_t elapsed_us)
{
    const struct totals *totals = &world->totals;
    const uint64_t slots = haft_table_stats_get(world->table).high_water;
    const double seconds = (double)elapsed_us / 1e6;

    printf("%s frame%s in %.1f s by %u worker%s, seed %" PRIu64 "\n\n", grouped(world->frame),
           plural(world->frame), seconds, options->workers, plural(options->workers),
           options->seed);
    printf("Agents\n");
    printf("  %14s  prey and %s hunter%s at the end, %s agent%s at most\n",
           grouped(totals->live[PREY]), grouped(totals->live[HUNTER]), plural(totals->live[HUNTER]),
           grouped(totals->most_live), plural(totals->most_live));
    printf("  %14s  born, %s died; %s hunter%s came from elsewhere\n", grouped(totals->births),
           grouped(totals->deaths), grouped(totals->immigrants), plural(totals->immigrants));
    printf("  %14s  bitten by two hunters at once, and dead once\n", grouped(totals->bitten_twice));
    printf("  %14s  id%s of friends, foes and prey that had died, all noticed\n\n",
           grouped(totals->stale), plural(totals->stale));
    printf("  %14s  slot%s at most\n", grouped(slots), plural(slots));
    printf("checksum %016" PRIx64 "\n", world_checksum(world));
}

static void set(json_t *object, const char *key, uint64_t number)
{
    json_object_set_new(object, key, json_integer((json_int_t)number));
}

void report_print_json(const struct options *options, const struct world *world)
{
    const struct totals *totals = &world->totals;
    json_t *object = json_object();
    char checksum[20];

    snprintf(checksum, sizeof checksum, "%016" PRIx64, world_checksum(world));
    set(object, "frames", world->frame);
    set(object, "agents", world->count);
    set(object, "prey", totals->live[PREY]);
    set(object, "hunters", totals->live[HUNTER]);
    set(object, "births", totals->births);
    set(object, "deaths", totals->deaths);
    set(object, "immigrants", totals->immigrants);
    set(object, "bitten_twice", totals->bitten_twice);
    set(object, "stale_targets", totals->stale);
    json_object_set_new(object, "checksum", json_string(checksum));
    set(object, "seed", options->seed);
    set(object, "workers", options->workers);
    set(object, "peak_slots", haft_table_stats_get(world->table).high_water);
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

    puts(text);
    free(text);
    json_decref(object);
}

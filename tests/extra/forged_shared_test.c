/* Ids that no table gave, where only shared tables take any: restore, pins, many, command sets. */
#include "tests/support.h"
#include <haft/commands.h>
#include <haft/diagnose.h>
#include <haft/many.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <haft/threads.h>
#include <haft/view.h>
#include <string.h>

TestSuite(forged_shared, .timeout = SUITE_SECONDS);

#define OBJECTS 500
#define RANGE 100
#define VALUES 10000000
#define CHUNK 1000 /* divides that */
#define LAYOUT HAFT_LAYOUT_OF(12, 12, 8)
#define TAG 5

static const haft_table_options options = {.capacity = 2 * OBJECTS,
                                           .object_size = 8,
                                           .layout = {12, 12, 8},
                                           .tag = TAG,
                                           .pins = true,
                                           .restore_range = RANGE};

static haft_id live[OBJECTS];
static haft_id chunk[CHUNK];

/* Live slots, and freed ones between them. */
static struct shared open_mixed(void)
{
    struct shared shared = open_shared(MEMB_CALLER, &options);

    for (int i = 0; i < OBJECTS; i++) {
        live[i] = insert(shared.worker);
        must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    }
    settle(shared.worker);
    return shared;
}

static void close_mixed(struct shared *shared)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_is_live(shared->view, live[i]));
        must(haft_pins(shared->table, live[i]) == 0);
    }
    cr_expect(eq(u64, stats_of(shared->table).live, OBJECTS));
    close_shared(shared);
}

/* Of any 64 bits, and of as many as the layout has; none is live. */
static void draw_chunk(const struct shared *shared, uint64_t *seed)
{
    for (int i = 0; i < CHUNK; i++) {
        do {
            const uint64_t bits = random_next(seed);

            chunk[i].bits = i % 2 == 0 ? bits : bits & UINT32_MAX;
        } while (haft_is_live(shared->view, chunk[i]));
    }
}

Test(forged_shared, ten_million_random_values_are_not_pinned_nor_unpinned)
{
    struct shared shared = open_mixed();
    uint64_t seed = 21;

    for (int n = 0; n < VALUES / CHUNK; n++) {
        draw_chunk(&shared, &seed);
        haft_section_begin(shared.domain);
        for (int i = 0; i < CHUNK; i++) {
            must(haft_pin(shared.table, chunk[i]) == NULL);
            must(haft_unpin(shared.table, chunk[i]) == HAFT_NOT_PINNED);
            must(haft_pins(shared.table, chunk[i]) == 0);
        }
        haft_section_end(shared.domain);
    }
    close_mixed(&shared);
}

Test(forged_shared, ten_million_random_values_are_not_freed_in_one_go)
{
    struct shared shared = open_mixed();
    haft_status statuses[CHUNK];
    uint64_t seed = 22;

    for (int n = 0; n < VALUES / CHUNK; n++) {
        draw_chunk(&shared, &seed);
        must(haft_free_many(shared.worker, chunk, CHUNK, statuses) == 0);
        for (int i = 0; i < CHUNK; i++) {
            must(statuses[i] == haft_diagnose(shared.table, chunk[i]));
        }
    }
    close_mixed(&shared);
}

Test(forged_shared, ten_million_random_values_are_not_freed_without_a_worker)
{
    struct shared shared = open_mixed();
    uint64_t seed = 25;

    for (int n = 0; n < VALUES / CHUNK; n++) {
        draw_chunk(&shared, &seed);
        for (int i = 0; i < CHUNK; i++) {
            const haft_status status = haft_free_unregistered(shared.table, chunk[i]);

            must(status != HAFT_OK && status == haft_diagnose(shared.table, chunk[i]));
        }
    }
    close_mixed(&shared);
}

/* By each of the ways to look one up. */
Test(forged_shared, ten_million_random_values_are_not_found)
{
    struct shared shared = open_mixed();
    void *objects[CHUNK];
    uint64_t seed = 26;

    for (int n = 0; n < VALUES / CHUNK; n++) {
        draw_chunk(&shared, &seed);
        haft_section_begin(shared.domain);
        must(haft_resolve_many(shared.view, chunk, objects, CHUNK) == 0);
        for (int i = 0; i < CHUNK; i++) {
            must(objects[i] == NULL);
            must(haft_resolve_counted(shared.worker, shared.view, chunk[i]) == NULL);
            must(haft_ref_is_nil(haft_ref_of(shared.view, chunk[i])));
        }
        haft_section_end(shared.domain);
    }
    close_mixed(&shared);
}

Test(forged_shared, of_a_million_random_values_none_is_said_to_be_live)
{
    struct shared shared = open_mixed();
    char text[512];
    uint64_t seed = 27;

    for (int n = 0; n < VALUES / CHUNK / 10; n++) {
        draw_chunk(&shared, &seed);
        for (int i = 0; i < CHUNK; i++) {
            const int length = haft_diagnose_format(shared.table, chunk[i], text, sizeof text);

            must(length > 0 && (size_t)length < sizeof text);
            must(strstr(text, haft_status_name(haft_diagnose(shared.table, chunk[i]))) != NULL);
            must(strstr(text, "HAFT_OK") == NULL);
        }
    }
    close_mixed(&shared);
}

/* What is restored is an id of the range, with the table's tag and no bit too many. */
Test(forged_shared, of_ten_million_random_values_only_ids_of_the_range_are_restored)
{
    struct shared shared = open_mixed();
    uint64_t seed = 23;
    uint64_t restored = 0;

    for (int n = 0; n < VALUES / CHUNK; n++) {
        draw_chunk(&shared, &seed);
        for (int i = 0; i < CHUNK; i++) {
            const haft_id id = chunk[i];
            const uint64_t index = haft_id_index(LAYOUT, id);

            if (haft_restore(shared.worker, id, NULL) == HAFT_OK) {
                must(index >= HAFT_FIRST_INDEX && index < HAFT_FIRST_INDEX + RANGE);
                must(haft_id_tag(LAYOUT, id) == TAG && id.bits <= UINT32_MAX);
                must(haft_is_live(shared.view, id));
                must(haft_free(shared.worker, id) == HAFT_OK);
                restored++;
            } else {
                must(!haft_is_live(shared.view, id));
            }
        }
    }
    cr_expect(ge(u64, restored, RANGE));
    close_mixed(&shared);
}

Test(forged_shared, ten_million_random_values_are_not_destroyed_by_a_command_set)
{
    struct shared shared = open_mixed();
    const haft_commands_options with = {.block_size = 0};
    haft_commands *commands;
    haft_recorder *recorder;
    haft_applied applied;
    uint64_t seed = 24;

    must(haft_commands_open(shared.table, &with, &commands) == HAFT_OK);
    for (int n = 0; n < VALUES / CHUNK; n++) {
        draw_chunk(&shared, &seed);
        must(haft_recorder_open(commands, 1, 0, &recorder) == HAFT_OK);
        for (int i = 0; i < CHUNK; i++) {
            must(haft_recorder_destroy(recorder, chunk[i]) == HAFT_OK);
        }
        must(haft_commands_apply(commands, &applied) == HAFT_OK);
        must(applied.destroyed == 0 && applied.refused + applied.stale == CHUNK);
    }
    haft_commands_close(commands);
    close_mixed(&shared);
}

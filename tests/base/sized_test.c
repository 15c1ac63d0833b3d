/* Options of another size: of programs that were compiled with an earlier or a later version. */
#include "tests/support.h"
#include <haft/counted.h>
#include <haft/kit/arena.h>
#include <haft/kit/commands.h>
#include <haft/kit/export.h>
#include <haft/kit/packed.h>
#include <haft/kit/snapshot.h>
#include <haft/share.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

TestSuite(sized, .timeout = SUITE_SECONDS);

#define LATER_BYTES 64 /* of a struct with members that the library does not know */

struct room {
    haft_domain *domain;
    haft_table *table;
    const char *directory;
};

/* What opens something, by options of which `good` are enough. */
struct opener {
    const char *name;
    const void *good;
    size_t known;
    size_t shortest; /* that holds the members of `good` */
    haft_status (*open)(struct room *room, const void *options, size_t size);
};

#define OPENS_ALONE(kind)                                                                          \
    static haft_status open_##kind(struct room *room, const void *options, size_t size)            \
    {                                                                                              \
        haft_##kind *made;                                                                         \
        const haft_status status = haft_##kind##_open_sized(options, size, &made);                 \
                                                                                                   \
        (void)room;                                                                                \
        if (status == HAFT_OK) {                                                                   \
            haft_##kind##_close(made);                                                             \
        }                                                                                          \
        return status;                                                                             \
    }

OPENS_ALONE(local)
OPENS_ALONE(packed)
OPENS_ALONE(domain)
OPENS_ALONE(history)
OPENS_ALONE(arena)
OPENS_ALONE(export)
OPENS_ALONE(counted)

#define MEASURES(kind)                                                                             \
    static haft_status measure_##kind(struct room *room, const void *options, size_t size)         \
    {                                                                                              \
        haft_footprint footprint;                                                                  \
                                                                                                   \
        return haft_##kind##_footprint_sized(options, size, &footprint);                           \
    }

MEASURES(local)
MEASURES(table)
MEASURES(counted)

static haft_status open_table(struct room *room, const void *options, size_t size)
{
    haft_table *table;
    const haft_status status = haft_table_open_sized(room->domain, options, size, &table);

    return status == HAFT_OK ? haft_table_close(table) : status;
}

static haft_status open_commands(struct room *room, const void *options, size_t size)
{
    haft_commands *commands;
    const haft_status status = haft_commands_open_sized(room->table, options, size, &commands);

    if (status == HAFT_OK) {
        haft_commands_close(commands);
    }
    return status;
}

static haft_status share(struct room *room, const void *options, size_t size)
{
    haft_table *table;
    haft_local *local = local_open(&(haft_local_options){.capacity = 10});
    const haft_status status = haft_share_sized(local, room->domain, options, size, &table);

    if (status == HAFT_OK) {
        return haft_table_close(table);
    }
    haft_local_close(local);
    return status;
}

static const haft_local_options local_good = {.capacity = 10, .object_size = 8};
static const haft_packed_options packed_good = {.capacity = 10, .object_size = 8};
static const haft_table_options table_good = {.capacity = 10, .object_size = 8};
static const haft_counted_options counted_good = {.capacity = 10, .object_size = 8};
static const haft_domain_options domain_good = {.clock = HAFT_CLOCK_WORKERS};
static const haft_history_options history_good = {.keep = 3};
static const haft_arena_options arena_good = {.block_size = 4096};
static const haft_commands_options commands_good = {.block_size = 4096};
static const haft_export_options export_good = {.directory = "/tmp"};
static const haft_share_options share_good = {.on_reclaim = NULL};

#define TABLE_OPTIONS_LEAST offsetof(haft_table_options, object_alignment)
#define COUNTED_OPTIONS_LEAST offsetof(haft_counted_options, object_alignment)

static const struct opener openers[] = {
    {"local", &local_good, sizeof local_good, TABLE_OPTIONS_LEAST, open_local},
    {"footprint", &local_good, sizeof local_good, TABLE_OPTIONS_LEAST, measure_local},
    {"a table's", &table_good, sizeof table_good, TABLE_OPTIONS_LEAST, measure_table},
    {"a counted one's", &counted_good, sizeof counted_good, COUNTED_OPTIONS_LEAST, measure_counted},
    {"packed", &packed_good, sizeof packed_good, TABLE_OPTIONS_LEAST, open_packed},
    {"table", &table_good, sizeof table_good, TABLE_OPTIONS_LEAST, open_table},
    {"counted", &counted_good, sizeof counted_good, COUNTED_OPTIONS_LEAST, open_counted},
    {"domain", &domain_good, sizeof domain_good, 0, open_domain},
    {"history", &history_good, sizeof history_good, sizeof(uint64_t), open_history},
    {"arena", &arena_good, sizeof arena_good, sizeof(size_t), open_arena},
    {"commands", &commands_good, sizeof commands_good, sizeof(size_t), open_commands},
    {"export", &export_good, sizeof export_good, sizeof(char *), open_export},
    {"share", &share_good, sizeof share_good, 0, share},
};

/* Each opener with a copy of its good options, `size` bytes of which are given, in memory of that
 * size, so that AddressSanitizer reports whatever is read beyond. */
static void open_each(size_t (*size_of)(const struct opener *opener), unsigned char last,
                      const char *expected)
{
    struct room room;

    assert_status(haft_domain_open(NULL, &room.domain), HAFT_OK);
    assert_status(haft_table_open(room.domain, &table_good, &room.table), HAFT_OK);
    for (size_t i = 0; i < sizeof openers / sizeof openers[0]; i++) {
        const size_t size = size_of(&openers[i]);
        unsigned char *options = calloc(1, size + (size == 0));

        memcpy(options, openers[i].good, size < openers[i].known ? size : openers[i].known);
        if (last != 0) {
            options[size - 1] = last;
        }
        const haft_status status = openers[i].open(&room, options, size);

        cr_expect(eq(str, (char *)haft_status_name(status), (char *)expected), "%s",
                  openers[i].name);
        free(options);
    }
    assert_status(haft_table_close(room.table), HAFT_OK);
    assert_status(haft_domain_close(room.domain), HAFT_OK);
}

static size_t shortest(const struct opener *opener)
{
    return opener->shortest;
}

static size_t same(const struct opener *opener)
{
    return opener->known;
}

static size_t later(const struct opener *opener)
{
    return opener->known + LATER_BYTES;
}

Test(sized, options_of_an_earlier_version_open_and_what_they_lack_counts_as_zero)
{
    open_each(shortest, 0, "HAFT_OK");
}

Test(sized, options_of_this_version_open)
{
    open_each(same, 0, "HAFT_OK");
}

Test(sized, options_of_a_later_version_open_while_what_is_new_in_them_is_zero)
{
    open_each(later, 0, "HAFT_OK");
}

Test(sized, an_option_that_only_a_later_version_has_is_refused)
{
    open_each(later, 1, "HAFT_UNKNOWN_OPTION");
}

/* What a later version would say there. */
static void expect_nothing_said(haft_footprint *footprint, haft_status status)
{
    expect_status(status, HAFT_OK);
    cr_expect(eq(u64, footprint->reserved[0], 0));
    memset(footprint, 0xff, sizeof *footprint);
}

Test(sized, footprints_say_nothing_in_their_reserved_members)
{
    const haft_local_options local = {.capacity = 10};
    haft_footprint footprint;

    memset(&footprint, 0xff, sizeof footprint);
    expect_nothing_said(&footprint, haft_local_footprint(&local, &footprint));
}

Test(sized, members_beyond_a_shorter_struct_are_not_taken_from_memory)
{
    haft_local_options options = {.capacity = 10, .object_size = 8, .tag = 77};
    AT_END(local_end) haft_local *local;

    expect_status(haft_local_open(&options, &local), HAFT_BAD_TAG);
    assert_status(haft_local_open_sized(&options, offsetof(haft_local_options, tag), &local),
                  HAFT_OK);
}

Test(sized, reserved_members_that_are_not_zero_are_unknown_options)
{
    haft_local_options local = {.capacity = 10};
    haft_packed_options packed = {.capacity = 10, .object_size = 8};
    haft_table_options table = {.capacity = 10};
    AT_END(domain_end) haft_domain *domain;
    void *opened;

    assert_status(haft_domain_open(NULL, &domain), HAFT_OK);
    local.reserved[0] = packed.reserved[1] = table.reserved[1] = 1;
    expect_status(haft_local_open(&local, (haft_local **)(void *)&opened), HAFT_UNKNOWN_OPTION);
    expect_status(haft_packed_open(&packed, (haft_packed **)(void *)&opened), HAFT_UNKNOWN_OPTION);
    expect_status(haft_table_open(domain, &table, (haft_table **)(void *)&opened),
                  HAFT_UNKNOWN_OPTION);
}

Test(sized, the_fourth_byte_of_a_layout_is_zero)
{
    haft_layout layout = HAFT_LAYOUT_16_16;
    haft_local *local;

    layout.reserved = 1;
    cr_expect(not(haft_layout_is_valid(layout)));
    expect_status(haft_local_open(&(haft_local_options){.capacity = 10, .layout = layout}, &local),
                  HAFT_BAD_LAYOUT);
    expect_status(
        haft_local_open(&(haft_local_options){.capacity = 10, .layout = {.reserved = 1}}, &local),
        HAFT_BAD_LAYOUT);
}

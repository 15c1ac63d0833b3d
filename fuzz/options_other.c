/* Options of any value for domains, command sets, arenas, exports, sides and histories. */
#include "fuzz/options.h"
#include <haft/kit/arena.h>
#include <haft/kit/commands.h>
#include <haft/kit/export.h>
#include <haft/kit/side.h>
#include <haft/kit/snapshot.h>
#include <haft/urcu.h>

#define MOST_BLOCK (UINT64_C(1) << 30)
#define MOST_TOUCHED (UINT64_C(1) << 20) /* sanitizers touch what arenas take */
#define BUFFER 4096

static void try_domain(const struct values *values)
{
    const haft_domain_options options = {
        .foreign_clock = values->gives_flavour ? haft_urcu_memb() : NULL,
        .clock = (haft_clock)values->clock,
    };
    const bool wants_flavour =
        values->clock == HAFT_CLOCK_THREAD || values->clock == HAFT_CLOCK_CALLER;
    haft_domain *domain = NULL;
    const haft_status said = haft_domain_open(&options, &domain);

    tell_answer("domain_open", said);
    must(said == (values->clock >= HAFT_CLOCK_COUNT        ? HAFT_BAD_CLOCK
                  : wants_flavour != values->gives_flavour ? HAFT_BAD_FOREIGN_CLOCK
                                                           : HAFT_OK),
         "domain_open");
    must((said == HAFT_OK) == (domain != NULL), "domain_open leaves its argument alone");
    if (domain != NULL) {
        must(haft_domain_close(domain) == HAFT_OK, "domain_close");
    }
}

static void try_commands(const struct values *values)
{
    const haft_domain_options domain_options = {.clock = HAFT_CLOCK_FRAME};
    const haft_table_options table_options = {.capacity = 4, .object_size = 8};
    const haft_commands_options options = {.block_size = (size_t)values->block_size};
    haft_domain *domain;
    haft_table *table;
    haft_commands *commands = NULL;

    must(haft_domain_open(&domain_options, &domain) == HAFT_OK, "domain_open");
    must(haft_table_open(domain, &table_options, &table) == HAFT_OK, "table_open");
    const haft_status said = haft_commands_open(table, &options, &commands);

    tell_answer("commands_open", said);
    must(said == (values->block_size > MOST_BLOCK ? HAFT_BAD_BLOCK_SIZE : HAFT_OK),
         "commands_open");
    must((said == HAFT_OK) == (commands != NULL), "commands_open leaves its argument alone");
    if (commands != NULL) {
        haft_commands_close(commands);
    }
    must(haft_table_close(table) == HAFT_OK, "table_close");
    must(haft_domain_close(domain) == HAFT_OK, "domain_close");
}

/* Whether the contract has anything against the option that `status` names. */
static bool is_to_blame(const struct values *values, haft_status status)
{
    const uint64_t block = values->block_size != 0 ? values->block_size : 65536;
    const uint64_t most = values->max_block_size;

    switch (status) {
    case HAFT_BAD_BLOCK_SIZE:
        return block > MOST_BLOCK;
    case HAFT_BAD_MAX_BLOCK_SIZE:
        return most != 0 && (most < block || most > MOST_BLOCK);
    case HAFT_BAD_BUFFER_SIZE:
        return values->gives_buffer ? values->buffer_size < HAFT_ARENA_OVERHEAD
                                    : values->buffer_size != 0;
    default:
        return false;
    }
}

static void try_arena(const struct values *values)
{
    static char buffer[BUFFER];
    const haft_arena_options options = {
        .block_size = (size_t)values->block_size,
        .max_block_size = (size_t)values->max_block_size,
        .buffer = values->gives_buffer ? buffer : NULL,
        .buffer_size = (size_t)values->buffer_size,
    };
    const bool is_any_bad = is_to_blame(values, HAFT_BAD_BLOCK_SIZE) ||
                            is_to_blame(values, HAFT_BAD_MAX_BLOCK_SIZE) ||
                            is_to_blame(values, HAFT_BAD_BUFFER_SIZE);
    haft_arena *arena = NULL;

    if (!is_any_bad && (values->block_size > MOST_TOUCHED || values->buffer_size > BUFFER)) {
        return;
    }
    const haft_status said = haft_arena_open(&options, &arena);

    tell_answer("arena_open", said);
    must(said == HAFT_OK ? !is_any_bad : is_to_blame(values, said), "arena_open");
    must((said == HAFT_OK) == (arena != NULL), "arena_open leaves its argument alone");
    if (arena != NULL) {
        must(haft_arena_alloc(arena, 1) != NULL, "arena_alloc");
        haft_arena_close(arena);
    }
}

/* The directory cannot exist, so no export is ever open. */
static void try_export(const struct values *values)
{
    const haft_export_options options = {
        .directory = values->gives_directory ? "/dev/null/nowhere" : NULL,
        .interval_ms = values->interval_ms,
    };
    const bool is_bad_interval =
        values->interval_ms != 0 && (values->interval_ms < 10 || values->interval_ms > 3600000);
    haft_export *opened = NULL;
    const haft_status said = haft_export_open(&options, &opened);

    tell_answer("export_open", said);
    must(said == HAFT_BAD_DIRECTORY || (said == HAFT_BAD_INTERVAL_MS && is_bad_interval),
         "export_open");
    must(opened == NULL, "export_open leaves its argument alone");
}

static void ignore_end(void *value, haft_id id, void *arg)
{
    (void)value;
    (void)id;
    (void)arg;
}

/* Whether a side beside a table of those values has that against it. */
static bool is_side_to_blame(const struct values *values, haft_status status, bool is_shared)
{
    const uint64_t alignment = values->object_alignment;

    switch (status) {
    case HAFT_BAD_VALUE_SIZE:
        return values->object_size > MOST_BLOCK;
    case HAFT_BAD_VALUE_ALIGNMENT:
        return (alignment & (alignment - 1)) != 0 || alignment > 4096;
    case HAFT_BAD_ON_END:
        return is_shared && values->gives_directory;
    case HAFT_BAD_WRAP:
        return values->wrap;
    default:
        return false;
    }
}

static bool is_any_side_bad(const struct values *values, bool is_shared)
{
    for (haft_status status = HAFT_BAD_VALUE_SIZE; status <= HAFT_BAD_ON_END; status++) {
        if (is_side_to_blame(values, status, is_shared)) {
            return true;
        }
    }
    return is_side_to_blame(values, HAFT_BAD_WRAP, is_shared);
}

static void check_side(const struct values *values, haft_status said, haft_side *side, haft_id id,
                       bool is_shared)
{
    void *place;

    tell_answer("side_open", said);
    must(said == HAFT_OK ? !is_any_side_bad(values, is_shared)
                         : is_side_to_blame(values, said, is_shared),
         "side_open");
    must((said == HAFT_OK) == (side != NULL), "side_open leaves its argument alone");
    if (side != NULL) {
        must(haft_side_set(side, id, NULL, &place) == HAFT_OK, "side_set");
        must(haft_side_get(haft_side_entries(side), id) == place, "side_get");
        must(values->object_alignment == 0 || (uintptr_t)place % values->object_alignment == 0,
             "a value's alignment");
        haft_side_close(side);
    }
}

static void try_local_side(const struct values *values, const haft_side_options *options)
{
    const haft_local_options with = {.capacity = 4, .wrap = values->wrap};
    haft_side *side = NULL;
    haft_local *local;
    haft_id id;

    must(haft_local_open(&with, &local) == HAFT_OK, "local_open");
    must(haft_local_insert(local, NULL, &id) == HAFT_OK, "insert");
    const haft_status said = haft_side_open_local(local, options, &side);

    check_side(values, said, side, id, false);
    haft_local_close(local);
}

static void try_shared_side(const struct values *values, const haft_side_options *options)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    const haft_table_options with = {.capacity = 4, .wrap = values->wrap};
    haft_side *side = NULL;
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;
    haft_id id;

    must(haft_domain_open(&frames, &domain) == HAFT_OK, "domain_open");
    must(haft_table_open(domain, &with, &table) == HAFT_OK, "table_open");
    must(haft_worker_open(table, &worker) == HAFT_OK, "worker_open");
    must(haft_insert(worker, NULL, &id) == HAFT_OK, "insert");
    const haft_status said = haft_side_open(table, options, &side);

    check_side(values, said, side, id, true);
    must(haft_worker_close(worker) == HAFT_OK, "worker_close");
    must(haft_table_close(table) == HAFT_OK, "table_close");
    must(haft_domain_close(domain) == HAFT_OK, "domain_close");
}

/* A value of the size and alignment that tables are tried with. */
static void try_side(const struct values *values)
{
    const haft_side_options options = {
        .value_size = (size_t)values->object_size,
        .value_alignment = (size_t)values->object_alignment,
        .on_end = values->gives_directory ? ignore_end : NULL,
    };

    if (!is_any_side_bad(values, false) && values->object_size > MOST_TOUCHED) {
        return;
    }
    try_local_side(values, &options);
    try_shared_side(values, &options);
}

/* A history of few snapshots or none. */
static void try_history(const struct values *values)
{
    const haft_history_options options = {.keep = values->capacity % 16};
    haft_history *history = NULL;
    const haft_status said = haft_history_open(&options, &history);

    tell_answer("history_open", said);
    must(said == (options.keep == 0 ? HAFT_BAD_KEEP : HAFT_OK), "history_open");
    must((said == HAFT_OK) == (history != NULL), "history_open leaves its argument alone");
    if (history != NULL) {
        haft_history_close(history);
    }
}

uint64_t try_others(const struct values *values)
{
    try_domain(values);
    try_commands(values);
    try_arena(values);
    try_export(values);
    try_side(values);
    try_history(values);
    return 7;
}

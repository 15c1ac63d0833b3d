/*
 * The shared table: opening, and its end when no thread uses it any more.
 *
 * Edges in this file.
 *   OWN     before the table is handed to other threads, or after the last has left it
 *   COUNT   the number of tables on the domain; numbers that are given once
 */
#include "concurrent/table/table.h"
#include "concurrent/batches/pool.h"
#include "concurrent/batches/tagged.h"
#include "concurrent/batches/tuning.h"
#include "concurrent/table/lists.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/tables.h"
#include "lib/slots/diagnose.h"
#include "lib/slots/object.h"
#include <stdlib.h>
#include <string.h>

OPTIONS_BEGIN_WITH_COMMON(haft_table_options);

static uint32_t batch_max_for(uint64_t budget)
{
    const uint64_t most = 1 + budget / (2 * WORKERS_EXPECTED);

    return most < BATCH_SLOTS ? (uint32_t)most : BATCH_SLOTS;
}

/* Large enough that its ends do not matter, small beside the table. */
static uint32_t extent_for(uint64_t slots, uint32_t batch_max)
{
    const uint64_t part = slots / EXTENTS_LEAST / batch_max * batch_max;

    return part < batch_max ? batch_max : part < EXTENT_SLOTS ? (uint32_t)part : EXTENT_SLOTS;
}

static haft_status open_table_slots(haft_table *table, const haft_table_options *options)
{
    struct slots_options wanted = {
        .extra = geometry_spare(options->capacity),
        .aside = options->restore_range,
        .pins = options->pins,
        .huge_pages = options->huge_pages,
        .wrapped = options->wrap,
    };
    uint64_t most;
    const haft_status status = options_check(options, IN_SLOTS, &wanted.common, &most);

    if (status == HAFT_OK && options->restore_range > most - options->capacity) {
        return HAFT_BAD_RESTORE_RANGE;
    }
    return status == HAFT_OK ? slots_open(&table->slots, &wanted) : status;
}

static haft_status open_pool(haft_table *table)
{
    const uint64_t slots = table->slots.limit - HAFT_FIRST_INDEX;
    haft_status status;

    /* Workers may hold back the slots beyond the capacity. */
    table->budget_size = table->slots.limit - table->restore_end - table->capacity;
    table->batch_max = batch_max_for(table->budget_size);
    table->extent_slots = extent_for(slots, table->batch_max);
    status = pool_open(&table->pool, slots / table->batch_max + DEPOT_NODES);
    if (status != HAFT_OK) {
        return status;
    }
    status = pool_commit(&table->pool, table->restore_end / table->batch_max + DEPOT_NODES);
    if (status != HAFT_OK) {
        pool_close(&table->pool);
    }
    return status;
}

static uint64_t table_number(void)
{
    static atomic_u64 given;

    return fetch_add_relaxed(COUNT, &given, 1) + 1;
}

haft_status table_start(haft_table *table, haft_domain *domain)
{
    const haft_status status = open_pool(table);

    if (status != HAFT_OK) {
        return status;
    }
    table->domain = domain;
    table->is_quick =
        slots_has_words(&table->slots) && !table->is_exact && table->slots.sites.records == NULL;
    table->sifts = asan_is_on() || table->on_reclaim != NULL || table->slots.has_pins ||
                   table->restore_end != HAFT_FIRST_INDEX;
    table->number = table_number();
    store_relaxed(OWN, &table->fresh, table->restore_end);
    store_relaxed(OWN, &table->legacy.listed, MARK_END);
    store_relaxed(OWN, &table->released.head, NUMBER_NONE);
    store_relaxed(OWN, &table->released.slots, 0);
    store_relaxed(OWN, &table->budget, table->budget_size);
    depot_open(&table->waiting, &table->pool);
    depot_open(&table->ready, &table->pool);
    lists_open(table);
    fetch_add_relaxed(COUNT, &domain->tables, 1);
    tables_add(table);
    return HAFT_OK;
}

void table_stop(haft_table *table)
{
    tables_remove(table);
    for (haft_worker *worker = roster_first(table), *next; worker != NULL; worker = next) {
        next = worker->next;
        free(worker);
    }
    pool_close(&table->pool);
    fetch_add_relaxed(COUNT, &table->domain->tables, UINT64_MAX);
}

haft_table *table_new(const char *name)
{
    haft_table *table = aligned_alloc(CACHE_LINE, sizeof *table);
    char *copy = strdup(name);

    if (table == NULL || copy == NULL) {
        free(copy);
        free(table);
        return NULL;
    }
    memset(table, 0, sizeof *table);
    table->restore_end = HAFT_FIRST_INDEX;
    table->name = copy;
    return table;
}

void table_free(haft_table *table)
{
    free(table->name);
    free(table);
}

static haft_status open_table(haft_domain *domain, const haft_table_options *options,
                              haft_table **table)
{
    haft_table *opened = table_new(options->name != NULL ? options->name : "table");

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    opened->capacity = options->capacity;
    opened->on_reclaim = options->on_reclaim;
    opened->reclaim_arg = options->reclaim_arg;
    opened->is_exact = options->exact_capacity;
    haft_status status = open_table_slots(opened, options);

    if (status == HAFT_OK) {
        opened->restore_end += options->restore_range;
        status = slots_commit(&opened->slots, opened->restore_end);
        status = status == HAFT_OK ? runs_reserve(&opened->slots.runs) : status;
        status = status == HAFT_OK ? table_start(opened, domain) : status;
        if (status != HAFT_OK) {
            slots_close(&opened->slots);
        }
    }
    if (status != HAFT_OK) {
        table_free(opened);
        return status;
    }
    *table = opened;
    return HAFT_OK;
}

haft_status haft_table_open_sized(haft_domain *domain, const haft_table_options *options,
                                  size_t size, haft_table **table)
{
    haft_table_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? open_table(domain, &known, table) : status;
}

haft_view haft_table_view(const haft_table *table)
{
    return table->slots.view;
}

haft_layout haft_table_layout(const haft_table *table)
{
    return table->slots.format.layout;
}

const char *haft_table_name(const haft_table *table)
{
    return table->name;
}

haft_domain *haft_table_domain(const haft_table *table)
{
    return table->domain;
}

size_t haft_table_object_size(const haft_table *table)
{
    return table->slots.object_size;
}

bool haft_table_has_pins(const haft_table *table)
{
    return table->slots.has_pins;
}

haft_status haft_diagnose(const haft_table *table, haft_id id)
{
    return slots_diagnose(&table->slots, id);
}

/*
 * The shared table: opening and closing.
 *
 * Edges in this file.
 *   ADOPT   haft_worker_close (release) -> haft_table_close (acquire)   what workers did last
 *   OWN     before the table is handed to other threads, or after the last has left it
 *   COUNT   the number of tables on the domain
 */
#include "concurrent/table.h"
#include <stdlib.h>
#include <string.h>

#define BUDGET_MOST (UINT64_C(1) << 16)   /* hold-back of 258 workers with full batches */
#define BUDGET_COMMON (UINT64_C(1) << 12) /* of 16 */
#define WORKERS_EXPECTED 16               /* that the smallest tables' budgets are spread over */
#define EXTENT_SLOTS 2048u                /* 64 KiB of slots with 24-byte objects */
#define EXTENTS_LEAST 64                  /* that a table is divided into, if it is large enough */

/* Slots beyond the capacity, for workers to hold back. */
static uint64_t wished_budget(uint64_t capacity)
{
    const uint64_t part = capacity / 8;

    if (capacity < BUDGET_COMMON) {
        return capacity;
    }
    return part < BUDGET_COMMON ? BUDGET_COMMON : part < BUDGET_MOST ? part : BUDGET_MOST;
}

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

static haft_status open_slots(haft_table *table, const haft_table_options *options)
{
    const struct slots_options slots_options = {
        .capacity = options->capacity,
        .extra = wished_budget(options->capacity),
        .object_size = options->object_size,
        .object_alignment = options->object_alignment,
        .layout = options->layout,
        .tag = options->tag,
        .first_generation = options->first_generation,
    };
    return slots_open(&table->slots, &slots_options);
}

static haft_status open_pool(haft_table *table)
{
    const uint64_t slots = table->slots.limit - HAFT_FIRST_INDEX;
    haft_status status;

    table->budget_size = slots - table->capacity;
    table->batch_max = batch_max_for(table->budget_size);
    table->extent_slots = extent_for(slots, table->batch_max);
    status = pool_open(&table->pool, slots / table->batch_max + 2);
    if (status != HAFT_OK) {
        return status;
    }
    status = pool_commit(&table->pool, 2);
    if (status != HAFT_OK) {
        pool_close(&table->pool);
    }
    return status;
}

static void fill_in(haft_table *table, haft_domain *domain, const haft_table_options *options)
{
    table->domain = domain;
    table->on_reclaim = options->on_reclaim;
    table->reclaim_arg = options->reclaim_arg;
    store_relaxed(OWN, &table->fresh, HAFT_FIRST_INDEX);
    store_relaxed(OWN, &table->budget, table->budget_size);
    depot_open(&table->depot, &table->pool);
    fetch_add_relaxed(COUNT, &domain->tables, 1);
}

haft_status haft_table_open(haft_domain *domain, const haft_table_options *options,
                            haft_table **table)
{
    haft_table *opened = aligned_alloc(CACHE_LINE, sizeof *opened);
    char *name = strdup(options->name != NULL ? options->name : "table");
    haft_status status = HAFT_NO_MEMORY;

    if (opened != NULL && name != NULL) {
        memset(opened, 0, sizeof *opened);
        opened->name = name;
        opened->capacity = options->capacity;
        status = open_slots(opened, options);
    }
    if (status == HAFT_OK) {
        status = open_pool(opened);
        if (status != HAFT_OK) {
            slots_close(&opened->slots);
        }
    }
    if (status != HAFT_OK) {
        free(name);
        free(opened);
        return status;
    }
    fill_in(opened, domain, options);
    *table = opened;
    return HAFT_OK;
}

static bool has_open_workers(const haft_table *table)
{
    for (haft_worker *worker = first_worker(table); worker != NULL; worker = worker->next) {
        if (load_acquire(ADOPT, &worker->state) != WORKER_CLOSED) {
            return true;
        }
    }
    return false;
}

/* on_reclaim for what was freed and not taken back. */
static void reclaim_rest(haft_table *table)
{
    const struct word_format *format = &table->slots.format;
    const uint64_t end = load_relaxed(OWN, &table->fresh);

    for (uint64_t index = HAFT_FIRST_INDEX; table->on_reclaim != NULL && index < end; index++) {
        atomic_u64 *at = slots_word(&table->slots, index);
        const uint64_t word = load_relaxed(OWN, at);

        if (word_index(format, word) == MARK_FREE) {
            table->on_reclaim(slots_object(at), word_last_life(format, word, index), NULL,
                              table->reclaim_arg);
        }
    }
}

haft_status haft_table_close(haft_table *table)
{
    haft_domain *domain = table->domain;

    if (has_open_workers(table)) {
        return HAFT_IN_USE;
    }
    if (domain_in_section(domain)) {
        return HAFT_IN_SECTION;
    }
    domain_wait_for(domain, domain_ticket(domain));
    reclaim_rest(table);
    for (haft_worker *worker = first_worker(table), *next; worker != NULL; worker = next) {
        next = worker->next;
        free(worker);
    }
    pool_close(&table->pool);
    slots_close(&table->slots);
    free(table->name);
    free(table);
    fetch_add_relaxed(COUNT, &domain->tables, UINT64_MAX);
    return HAFT_OK;
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

haft_status haft_diagnose(const haft_table *table, haft_id id)
{
    return slots_diagnose(&table->slots, id);
}

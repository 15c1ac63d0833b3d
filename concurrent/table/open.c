/*
 * The shared table: opening, and its end when no thread uses it any more.
 *
 * Edges in this file.
 *   OWN     before other threads have the table, or after the last has left it
 *   COUNT   numbers that are assigned once; and the tables of a domain, under the registry's lock
 *           too: the child of a fork finds both the same
 */
#include "concurrent/table/open.h"
#include "concurrent/batches/pool.h"
#include "concurrent/batches/tagged.h"
#include "concurrent/batches/tuning.h"
#include "concurrent/clock/registry.h"
#include "concurrent/worker/lists.h"
#include "concurrent/worker/worker_list.h"
#include "lib/slots/diagnose.h"
#include "lib/slots/object.h"
#include <string.h>

OPTIONS_BEGIN_WITH_COMMON(haft_table_options);

/* The bound on memory that waits, in slots. */
static uint64_t waiting_slots(uint64_t bytes, uint64_t stride)
{
    const uint64_t slots = (bytes != 0 ? bytes : WAITING_BYTES) / stride;

    return slots != 0 ? slots : 1;
}

/* Slots that workers may hold back: those beyond the capacity, and half of what may wait. */
static uint64_t budget_for(uint64_t room, uint64_t waiting)
{
    return room < waiting / 2 ? room : waiting / 2;
}

static uint64_t backlog_for(uint64_t waiting)
{
    const uint64_t part = waiting / 2 / WORKERS_EXPECTED;

    return part == 0 ? 1 : part < BACKLOG_SLOTS ? part : BACKLOG_SLOTS;
}

/* As BACKLOG_WORTH says; of a small table no more than a worker could do without. */
static uint64_t worth_for(uint64_t backlog, uint64_t slots)
{
    const uint64_t part = slots / 2 > BATCH_SLOTS ? slots / 2 : BATCH_SLOTS;

    return BACKLOG_WORTH(backlog) < part ? BACKLOG_WORTH(backlog) : part;
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

haft_status table_check_waiting(uint64_t bytes, uint64_t stride)
{
    return bytes == 0 || bytes >= stride ? HAFT_OK : HAFT_BAD_WAITING_BYTES;
}

/* What slots are asked for; HAFT_OK, or why the options are wrong. */
static haft_status table_slots_wanted(const haft_table_options *options,
                                      struct slots_options *wanted)
{
    uint64_t most;

    *wanted = (struct slots_options){
        .extra = geometry_spare(options->capacity),
        .pins = options->pins,
        .huge_pages = options->huge_pages,
        .wrapped = options->wrap,
    };
    const haft_status status = options_check(options, IN_SLOTS, &wanted->common, &most);

    return status != HAFT_OK
               ? status
               : table_check_waiting(options->waiting_bytes, geometry_of(wanted).stride);
}

/* Descriptors for what the depots may hold. */
static uint64_t depot_batches(uint64_t slots, uint64_t budget)
{
    return slots / batch_max_for(budget) + DEPOT_NODES;
}

/* Of them, those that a table needs from the start. */
static uint64_t first_batches(uint32_t batch_max)
{
    return HAFT_FIRST_INDEX / batch_max + DEPOT_NODES;
}

static haft_status open_pool(haft_table *table)
{
    const uint64_t slots = table->slots.limit - HAFT_FIRST_INDEX;
    haft_status status;

    /* The slots beyond the capacity are there for workers to hold back. */
    table->waiting_slots = waiting_slots(table->waiting_bytes, table->slots.view.stride);
    table->backlog_slots = backlog_for(table->waiting_slots);
    table->backlog_worth = worth_for(table->backlog_slots, slots);
    table->budget_size =
        budget_for(table->slots.limit - HAFT_FIRST_INDEX - table->capacity, table->waiting_slots);
    table->batch_max = batch_max_for(table->budget_size);
    table->extent_slots = extent_for(slots, table->batch_max);
    status = pool_open(&table->pool, depot_batches(slots, table->budget_size), &table->slots.heap);
    if (status != HAFT_OK) {
        return status;
    }
    status = pool_commit(&table->pool, first_batches(table->batch_max));
    if (status != HAFT_OK) {
        pool_close(&table->pool);
    }
    return status;
}

static uint64_t table_number(void)
{
    static atomic_u64 last;

    return fetch_add_relaxed(COUNT, &last, 1) + 1;
}

/* Insertion and free in place, where an object's life takes no more than its slot. */
static void open_front(haft_table *table)
{
    const struct word_format *format = &table->slots.format;
    const bool is_open = table->slots.sites.records == NULL && !asan_is_on();

    table->used_from = is_open ? 1 : UINT64_MAX;
    table->last_life = is_open ? format->tag | format->generation_mask : 0;
}

/* --- the list of open tables, newest first --- */

static haft_table *open_tables; /* under the lock; debuggers look for it by this name */

static void tables_add(haft_table *table)
{
    registry_lock();
    table->next_open = open_tables;
    table->open_link = &open_tables;
    if (open_tables != NULL) {
        open_tables->open_link = &table->next_open;
    }
    open_tables = table;
    fetch_add_relaxed(COUNT, &table->domain->tables, 1);
    registry_unlock();
}

static void tables_remove(haft_table *table)
{
    registry_lock();
    *table->open_link = table->next_open;
    if (table->next_open != NULL) {
        table->next_open->open_link = table->open_link;
    }
    fetch_add_relaxed(COUNT, &table->domain->tables, UINT64_MAX);
    registry_unlock();
}

haft_table *first_open_table(void)
{
    return open_tables;
}

/* --- what a table has beside its slots --- */

haft_status table_start(haft_table *table, haft_domain *domain)
{
    const haft_status status = open_pool(table);

    if (status != HAFT_OK) {
        return status;
    }
    table->domain = domain;
    table->is_quick = object_is_words(table->slots.object_size);
    open_front(table);
    table->reclaims_by_slot = asan_is_on() || table->on_reclaim != NULL || table->slots.has_pins;
    table->number = table_number();
    store_relaxed(OWN, &table->fresh, HAFT_FIRST_INDEX);
    store_relaxed(OWN, &table->inherited.listed, MARK_END);
    store_relaxed(OWN, &table->released.head, NUMBER_NONE);
    store_relaxed(OWN, &table->released.slots, 0);
    store_relaxed(OWN, &table->budget, table->budget_size);
    depot_open(&table->waiting, &table->pool);
    depot_open(&table->ready, &table->pool);
    lists_open(table);
    tables_add(table);
    return HAFT_OK;
}

void table_stop(haft_table *table)
{
    tables_remove(table);
    worker_list_free(table);
    pool_close(&table->pool);
}

haft_table *table_new(const char *name, const haft_allocator *heap)
{
    const size_t size = size_with_name(sizeof(haft_table), name);
    haft_table *table = heap_take_zero(heap, size, CACHE_LINE);

    if (table != NULL) {
        table->name = memcpy(table + 1, name, size - sizeof *table);
        table->slots.heap = *heap;
    }
    return table;
}

void table_free(haft_table *table)
{
    heap_give(&table->slots.heap, table, size_with_name(sizeof(haft_table), table->name));
}

static const char *table_name_of(const haft_table_options *options)
{
    return options->name != NULL ? options->name : "table";
}

static haft_status start_opened(haft_table *table, haft_domain *domain)
{
    haft_status status = slots_commit(&table->slots, HAFT_FIRST_INDEX);

    status = status == HAFT_OK ? runs_reserve(&table->slots.runs) : status;
    status = status == HAFT_OK ? table_start(table, domain) : status;
    if (status != HAFT_OK) {
        slots_close(&table->slots);
    }
    return status;
}

static haft_status fill_table(haft_table *table, haft_domain *domain,
                              const haft_table_options *options, const struct slots_options *wanted)
{
    table->capacity = options->capacity;
    table->on_reclaim = options->on_reclaim;
    table->reclaim_arg = options->reclaim_arg;
    table->waiting_bytes = options->waiting_bytes;
    table->never_waits = options->never_wait;
    const haft_status status = slots_open(&table->slots, wanted);

    return status == HAFT_OK ? start_opened(table, domain) : status;
}

haft_status haft_table_open_sized(haft_domain *domain, const haft_table_options *options,
                                  size_t size, haft_table **table)
{
    haft_table_options known;
    struct slots_options wanted;
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? table_slots_wanted(&known, &wanted) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const haft_allocator heap = heap_of(known.allocator);
    haft_table *opened = table_new(table_name_of(&known), &heap);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    status = fill_table(opened, domain, &known, &wanted);
    if (status != HAFT_OK) {
        table_free(opened);
        return status;
    }
    *table = opened;
    return HAFT_OK;
}

/* --- beforehand --- */

/* Bytes for descriptors, all of them and those that opening needs. */
static uint64_t pool_bytes(const haft_table_options *options, const struct geometry *geometry,
                           uint64_t *begun)
{
    const uint64_t budget = budget_for(geometry->limit - geometry->end,
                                       waiting_slots(options->waiting_bytes, geometry->stride));
    const uint64_t most = depot_batches(geometry->limit - HAFT_FIRST_INDEX, budget);

    *begun = first_batches(batch_max_for(budget)) * sizeof(struct batch);
    return most * sizeof(struct batch);
}

/* The highest capacity for which slots take no more address space. */
static uint64_t table_capacity_that_fills(haft_table_options options, uint64_t count)
{
    struct slots_options wanted;
    uint64_t fits = options.capacity;
    uint64_t above = count;

    while (above - fits > 1) {
        options.capacity = fits + (above - fits) / 2;
        if (table_slots_wanted(&options, &wanted) == HAFT_OK &&
            geometry_of(&wanted).count == count) {
            fits = options.capacity;
        } else {
            above = options.capacity;
        }
    }
    return fits;
}

haft_status haft_table_footprint_sized(const haft_table_options *options, size_t size,
                                       haft_footprint *footprint)
{
    haft_table_options known;
    struct slots_options wanted;
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? table_slots_wanted(&known, &wanted) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const struct geometry geometry = geometry_of(&wanted);
    uint64_t begun;
    const uint64_t pool = pool_bytes(&known, &geometry, &begun);
    const uint64_t at_once =
        size_with_name(sizeof(haft_table), table_name_of(&known)) + geometry_address_space(wanted);

    if (!given_is_possible(at_once + pool)) {
        return HAFT_NO_MEMORY;
    }
    *footprint = (haft_footprint){
        .bytes = at_once + pool,
        .capacity = table_capacity_that_fills(known, geometry.count),
        .committed = at_once + reservation_first_step(pool, begun),
    };
    return HAFT_OK;
}

haft_view haft_table_view(const haft_table *table)
{
    return table->slots.view;
}

haft_info haft_table_info(const haft_table *table)
{
    haft_info info = slots_info(&table->slots, table->name, table->capacity);

    info.domain = table->domain;
    return info;
}

haft_status haft_diagnose(const haft_table *table, haft_id id)
{
    return slots_diagnose(&table->slots, id);
}

haft_status haft_id_at(const haft_table *table, uint64_t index, haft_id *id)
{
    return slots_id_at(&table->slots, index, id);
}

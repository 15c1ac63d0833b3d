/*
 * haft_reserve_capacity: memory had before it is used.
 *
 * Each worker has at most one extent of slots that it has drawn and not used.  So while `count`
 * slots are used after the call, no more than these and an extent for each worker are drawn.
 *
 * Edges in this file.
 *   COUNT   how far the table's slots were drawn: others may draw meanwhile
 */
#include "concurrent/table/fresh.h"
#include "concurrent/table/roster.h"
#include <haft/memory.h>

/* The first slot that needs no memory now. */
static uint64_t end_of_capacity(const haft_table *table, uint64_t count, uint64_t workers)
{
    const uint64_t drawn = load_relaxed(COUNT, &table->fresh);
    const uint64_t left = table->slots.limit - drawn;
    const uint64_t more = count + workers * table->extent_slots;

    return drawn + (more < left ? more : left);
}

/* Memory for the descriptors that workers bring.  `*workers`: how many workers there are. */
static haft_status populate_workers(const haft_table *table, uint64_t *workers)
{
    haft_status status = HAFT_OK;

    *workers = 0;
    for (haft_worker *worker = roster_first(table); worker != NULL && status == HAFT_OK;
         worker = worker->next) {
        status = memory_populate((char *)worker, sizeof *worker);
        (*workers)++;
    }
    return status;
}

haft_status haft_reserve_capacity(haft_table *table, uint64_t count)
{
    uint64_t workers;

    if (count > table->slots.limit - HAFT_FIRST_INDEX) {
        return HAFT_FULL;
    }
    const haft_status status = populate_workers(table, &workers);

    return status == HAFT_OK ? fresh_populate(table, end_of_capacity(table, count, workers))
                             : status;
}

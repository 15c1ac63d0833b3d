/*
 * stress/combinations/shim.h - what no public call tells.  White-box: the census, the workers'
 * budget, and the ids that a command set has reserved.
 */
#ifndef HAFT_COMBINATIONS_SHIM_H
#define HAFT_COMBINATIONS_SHIM_H

#include "concurrent/clock/state.h"
#include "concurrent/table/census.h"
#include "concurrent/worker/state.h"
#include <haft/counted.h>
#include <haft/domain.h>
#include <haft/kit/commands.h>
#include <haft/kit/side.h>
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/scan.h>
#include <haft/share.h>
#include <haft/table.h>

/* The statistics, and whether each slot is in the one place that they say; while no call is under
 * way. */
static inline bool shim_census(const haft_table *table, haft_table_stats *stats)
{
    *stats = haft_table_stats_get(table);
    return stats->live + stats->reserved + stats->retired + stats->free + stats->exhausted +
                   stats->released ==
               stats->high_water &&
           census_is_right(table);
}

/* Whether a worker that is opened now may hold back no slot, since others do. */
static inline bool shim_budget_is_spent(const haft_table *table)
{
    return table->budget_size >= 2 &&
           atomic_load_explicit(&table->budget, memory_order_relaxed) < 2;
}

/* As if the worker had used its table. */
void shim_draw_budget(haft_worker *worker);

/* Slots beyond what is in use that open workers may hold back, at most. */
static inline uint64_t shim_held_back(const haft_table *table)
{
    return table->budget_size - atomic_load_explicit(&table->budget, memory_order_relaxed);
}

/* Reservations that serve the command set's next recorder. */
uint64_t shim_reserved(const haft_commands *commands);

/* Their number and that of the open recorders' that no creation has used; `call` for each. */
uint64_t shim_each_unused(const haft_commands *commands, void (*call)(haft_id id));

#endif /* HAFT_COMBINATIONS_SHIM_H */

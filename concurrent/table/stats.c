/*
 * Statistics: sums over the workers' own counters.
 *
 * Edges in this file.
 *   COUNT   each number alone
 */
#include "concurrent/table/stats.h"
#include "concurrent/worker/fresh.h"
#include "concurrent/worker/worker_list.h"
#include <haft/diagnose.h>
#include <stddef.h>

#define SUM_MEMBER(name) uint64_t name;

struct sums {
    COUNTERS(SUM_MEMBER)
    PUBLIC_COUNTERS(SUM_MEMBER)
    uint64_t open;
};

/* Where each counter is, and its sum. */
#define SUM_PLACES(name) {offsetof(struct counters, name), offsetof(struct sums, name)},

static const struct {
    size_t counter, sum;
} places[] = {COUNTERS(SUM_PLACES) PUBLIC_COUNTERS(SUM_PLACES)};

/*
 * Ends are read before beginnings, so that no difference is ever negative when a worker goes on
 * meanwhile; what one worker begins and another ends may still be seen the other way round.
 */
static void add_counters(struct sums *sums, const struct counters *counters)
{
    for (size_t i = sizeof places / sizeof places[0]; i-- > 0;) {
        const void *counter = (const char *)counters + places[i].counter;
        void *total = (char *)sums + places[i].sum;

        *(uint64_t *)total += load_relaxed(COUNT, (const atomic_u64 *)counter);
    }
}

static struct sums sum(const haft_table *table)
{
    struct sums sums = {0};

    for (const haft_worker *worker = worker_list_first(table); worker != NULL;
         worker = worker->next) {
        add_counters(&sums, &worker->counters);
        sums.open += worker_state(worker) == WORKER_OPEN;
    }
    add_counters(&sums, &table->counters);
    return sums;
}

#define SUM_AS_IT_IS(name) .name = sums.name,

/* Numbers of slots: one that is negative is a high number. */
static struct stock stock_of(const struct sums *sums)
{
    return (struct stock){
        .live = sums->published + sums->inserted - sums->freed,
        .reserved = sums->reserved - sums->published - sums->aborted,
        .retired = sums->freed + sums->aborted - sums->reclaimed,
        .exhausted = sums->exhausted,
    };
}

struct stock stats_stock(const haft_table *table)
{
    const struct sums sums = sum(table);

    return stock_of(&sums);
}

/* A number of slots, or 0 where calls under way make it negative. */
static uint64_t not_negative(uint64_t number)
{
    return number <= INT64_MAX ? number : 0;
}

haft_table_stats haft_table_stats_get(const haft_table *table)
{
    const struct sums sums = sum(table);
    const struct stock stock = stock_of(&sums);
    const uint64_t used = fresh_used(table);
    haft_table_stats stats = {
        .live = not_negative(stock.live),
        .reserved = not_negative(stock.reserved),
        .retired = not_negative(stock.retired),
        .exhausted = not_negative(stock.exhausted),
        .released = load_relaxed(COUNT, &table->released.slots) + fresh_in_extents(table, true),
        .high_water = used,
        .capacity = table->capacity,
        .limit = table->slots.limit - HAFT_FIRST_INDEX,
        .workers = sums.open,
        .created = sums.published + sums.inserted,
        .freed = sums.freed,
        PUBLIC_COUNTERS(SUM_AS_IT_IS).clock = haft_domain_stats_get(table->domain),
    };
    stats.free = positive_difference(used, stats.live + stats.reserved + stats.retired +
                                               stats.exhausted + stats.released);
    return stats;
}

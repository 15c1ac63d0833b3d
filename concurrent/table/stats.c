/*
 * Statistics: sums over the workers' own counters.
 *
 * Edges in this file.
 *   TALLY   tally (release) -> count_begun (acquire)   frees before insertions into their slots
 *   COUNT   each number alone; fewest_lives chooses the order of the reads
 *   RETRY   the budget, as a number
 */
#include "concurrent/table/stats.h"
#include "concurrent/table/fresh.h"
#include "concurrent/table/roster.h"
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

    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        add_counters(&sums, &worker->counters);
        sums.open += worker_state(worker) == WORKER_OPEN;
    }
    add_counters(&sums, &table->counters);
    return sums;
}

/* a - b, or 0 where calls under way make it negative. */
static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Fresh slots in all extents: those used before, or those never used. */
static uint64_t slots_at_hand(const haft_table *table, bool again)
{
    uint64_t slots = 0;

    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        slots += fresh_at_hand(worker, again);
    }
    return slots;
}

/* Slots ever used: drawn from the table, and in no extent any more. */
static uint64_t used_slots(const haft_table *table)
{
    /* First: an extent drawn in between makes the difference too small.  It is too large only while
     * a thread has taken slots from `fresh` and not yet put them into its extent. */
    const uint64_t drawn = load_relaxed(COUNT, &table->fresh);

    return difference(drawn, HAFT_FIRST_INDEX + slots_at_hand(table, false));
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
    const uint64_t used = used_slots(table);
    haft_table_stats stats = {
        .live = not_negative(stock.live),
        .reserved = not_negative(stock.reserved),
        .retired = not_negative(stock.retired),
        .exhausted = not_negative(stock.exhausted),
        .released = load_relaxed(COUNT, &table->released.slots) + slots_at_hand(table, true),
        .high_water = used,
        .capacity = table->capacity,
        .limit = table->slots.limit - HAFT_FIRST_INDEX,
        .workers = sums.open,
        .created = sums.published + sums.inserted,
        .freed = sums.freed,
        PUBLIC_COUNTERS(SUM_AS_IT_IS).clock = haft_domain_stats_get(table->domain),
    };
    stats.free = difference(used, stats.live + stats.reserved + stats.retired + stats.exhausted +
                                      stats.released);
    return stats;
}

/* Lives and exhausted slots that began and that ended, of all workers and of the table. */
struct lives {
    uint64_t begun, ended;
    uint64_t exhausted;
};

static void count_begun(struct lives *lives, const haft_table *table)
{
    lives->begun = 0;
    lives->exhausted = 0;
    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        lives->exhausted += load_acquire(TALLY, &worker->counters.exhausted);
        lives->begun += load_acquire(TALLY, &worker->counters.reserved);
        lives->begun += load_acquire(TALLY, &worker->counters.inserted);
    }
}

static void count_ended(struct lives *lives, const haft_table *table)
{
    lives->ended = load_relaxed(COUNT, &table->counters.freed);
    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        lives->ended += load_relaxed(COUNT, &worker->counters.aborted);
        lives->ended += load_relaxed(COUNT, &worker->counters.freed);
    }
}

/* Slots live or reserved. */
static uint64_t taken(const struct lives *lives)
{
    return difference(lives->begun, lives->ended);
}

/*
 * Slots taken and exhausted, no more than at some moment, however long this thread is delayed in
 * between: beginnings are read before ends, of all workers.
 */
static struct lives fewest_lives(const haft_table *table)
{
    struct lives lives;

    count_begun(&lives, table);
    count_ended(&lives, table);
    return lives;
}

/* Extents are read first: slots that are drawn meanwhile count as used. */
uint64_t stats_idle(const haft_table *table)
{
    uint64_t at_hand = slots_at_hand(table, true) + slots_at_hand(table, false);

    at_hand += load_relaxed(COUNT, &table->released.slots);
    const struct lives lives = fewest_lives(table);
    const uint64_t drawn = load_relaxed(COUNT, &table->fresh) - HAFT_FIRST_INDEX;

    return difference(drawn, at_hand + taken(&lives) + lives.exhausted);
}

haft_status stats_shortage(const haft_table *table, const haft_worker *worker, haft_status fresh)
{
    const struct lives lives = fewest_lives(table);
    const uint64_t others = difference(table->budget_size - load_relaxed(RETRY, &table->budget),
                                       2 * (uint64_t)(worker->batch_limit - 1));
    const uint64_t slots =
        fresh == HAFT_NO_MEMORY ? used_slots(table) : table->slots.limit - HAFT_FIRST_INDEX;

    /* Slots not taken, exhausted or held back by others come within reach in time. */
    if (taken(&lives) + lives.exhausted + others >= slots) {
        return fresh;
    }
    return taken(&lives) >= table->capacity ? HAFT_FULL : HAFT_BUSY;
}

/*
 * Occupancy: how many slots are taken, counted while other threads insert and free.
 *
 * Edges in this file.
 *   TALLY   tally (release) -> count_begun (acquire)   frees before insertions into their slots
 *   COUNT   each number alone; fewest_lives chooses the order of the reads
 *   RETRY   the budget, as a number
 */
#include "concurrent/worker/full_or_busy.h"
#include "concurrent/worker/fresh.h"
#include "concurrent/worker/worker_list.h"

/* Lives and exhausted slots that began and that ended, of all workers and of the table. */
struct lives {
    uint64_t begun, ended;
    uint64_t exhausted;
};

static void count_begun(struct lives *lives, const haft_table *table)
{
    lives->begun = 0;
    lives->exhausted = 0;
    for (const haft_worker *worker = worker_list_first(table); worker != NULL;
         worker = worker->next) {
        lives->exhausted += load_acquire(TALLY, &worker->counters.exhausted);
        lives->begun += load_acquire(TALLY, &worker->counters.reserved);
        lives->begun += load_acquire(TALLY, &worker->counters.inserted);
    }
}

static void count_ended(struct lives *lives, const haft_table *table)
{
    lives->ended = load_relaxed(COUNT, &table->counters.freed);
    for (const haft_worker *worker = worker_list_first(table); worker != NULL;
         worker = worker->next) {
        lives->ended += load_relaxed(COUNT, &worker->counters.aborted);
        lives->ended += load_relaxed(COUNT, &worker->counters.freed);
    }
}

/* Slots live or reserved. */
static uint64_t taken(const struct lives *lives)
{
    return positive_difference(lives->begun, lives->ended);
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
uint64_t occupancy_idle(const haft_table *table)
{
    uint64_t at_hand = fresh_in_extents(table, true) + fresh_in_extents(table, false);

    at_hand += load_relaxed(COUNT, &table->released.slots);
    const struct lives lives = fewest_lives(table);
    const uint64_t drawn = load_relaxed(COUNT, &table->fresh) - HAFT_FIRST_INDEX;

    return positive_difference(drawn, at_hand + taken(&lives) + lives.exhausted);
}

haft_status occupancy_why_none(const haft_table *table, const haft_worker *worker,
                               haft_status fresh)
{
    const struct lives lives = fewest_lives(table);
    const uint64_t others =
        positive_difference(table->budget_size - load_relaxed(RETRY, &table->budget),
                            2 * (uint64_t)(worker->batch_limit - 1));
    const uint64_t slots =
        fresh == HAFT_NO_MEMORY ? fresh_used(table) : table->slots.limit - HAFT_FIRST_INDEX;

    /* Slots not taken, exhausted or held back by others come within reach in time. */
    if (taken(&lives) + lives.exhausted + others >= slots) {
        return fresh;
    }
    return taken(&lives) >= table->capacity ? HAFT_FULL : HAFT_BUSY;
}

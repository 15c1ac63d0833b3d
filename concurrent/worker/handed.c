/*
 * The word of slots handed over, and the workers in transit.
 *
 * Edges in this file.
 *   HANDED   handed_raise, handed_clear (release) -> handed_clear, handed_ticket (acquire)
 *            the batches pushed before; and that a worker is in transit that clears the word
 *   TRANSIT  transit_end (release) -> transit_wait (acquire)   what became of the slots
 *   OWN      a number that this worker alone writes
 *   COUNT    moves: those that matter were counted before transit_end
 *   RETRY    a first look; the compare-and-swap decides
 */
#include "concurrent/worker/handed.h"
#include "concurrent/worker/worker_list.h"
#include "lib/base/pause.h"
#include <stddef.h>

void handed_raise(haft_table *table, uint64_t ticket)
{
    uint64_t before;

    do {
        before = load_relaxed(RETRY, &table->handed);
        /* Weakened, and left out where the word is high enough: a thread that clears it could miss
         * the batches. */
    } while (!cas_release(HANDED, &table->handed, before, before < ticket ? ticket : before));
}

uint64_t handed_ticket(const haft_table *table)
{
    /* Weakened, a look after it could miss the batches, or that a worker is in transit. */
    return load_acquire(HANDED, &table->handed);
}

bool handed_clear(haft_table *table, uint64_t ticket)
{
    /* Weakened, the look after it could miss batches pushed before; or a thread that reads 0 could
     * miss that this worker has some. */
    return cas_acq_rel(HANDED, &table->handed, ticket, 0);
}

bool transit_begin(haft_worker *worker)
{
    const uint64_t number = load_relaxed(OWN, &worker->transit);

    /* The compare-and-swap by which it takes slots is a release. */
    store_relaxed(OWN, &worker->transit, number | 1);
    return (number & 1) == 0;
}

void transit_end(haft_worker *worker, bool has_begun)
{
    const uint64_t number = load_relaxed(OWN, &worker->transit);

    assert((number & 1) == 1);
    if (has_begun) {
        /* Weakened, its callbacks' effects or the slots put back could be missed. */
        store_release(TRANSIT, &worker->transit, number + 1);
    }
}

void transit_wait(const haft_table *table)
{
    for (const haft_worker *worker = worker_list_first(table); worker != NULL;
         worker = worker->next) {
        const uint64_t number = load_acquire(TRANSIT, &worker->transit);

        for (uint64_t turn = 0;
             (number & 1) == 1 && load_acquire(TRANSIT, &worker->transit) == number; turn++) {
            pause_in_turn(turn);
        }
    }
}

uint64_t transit_moves(const haft_table *table)
{
    uint64_t moves = 0;

    for (const haft_worker *worker = worker_list_first(table); worker != NULL;
         worker = worker->next) {
        moves += load_relaxed(COUNT, &worker->moves);
    }
    return moves;
}

/*
 * concurrent/worker/handed.h - slots handed over, and slots in transit.
 *
 * A worker that hands over raises one word of the table to its latest ticket.  While the word is
 * set, the quiescent points of all workers look at the clock and reclaim what has elapsed
 * (sweep.h).
 *
 *   handing over   push the batches; raise the word, in a read-modify-write each time
 *   clearing       the word's ticket is done, and no ring and no depot has a batch that has
 *   elapsed:
 *                  clear the word, and look once more.  A batch pushed before the word was raised
 *                  is found by then; one whose word is raised later sets it again
 *
 * Waiting slots are in a ring, a depot or a list, or with a worker that is in transit:
 * its number is odd then.  So a thread that has found no slot, and waits until each worker's number
 * is even or another, has seen the end of each call that had one.
 */
#ifndef HAFT_CONCURRENT_HANDED_H
#define HAFT_CONCURRENT_HANDED_H

#include "concurrent/worker/state.h"

/* Batches with tickets up to `ticket` were handed over.  Any thread; lock-free. */
void handed_raise(haft_table *table, uint64_t ticket);

/* The highest ticket handed over; 0: all were reclaimed, or are in transit.  Any thread. */
uint64_t handed_ticket(const haft_table *table);

/* The word is 0 again; false: it was raised meanwhile: look for elapsed batches once more. */
bool handed_clear(haft_table *table, uint64_t ticket);

/*
 * Around each step in which the worker takes waiting slots and has not reclaimed them or put them
 * back.  False: it was in transit before, as inside a callback.  The worker's thread; wait-free.
 */
bool transit_begin(haft_worker *worker);
void transit_end(haft_worker *worker, bool has_begun);

/* Wait for the workers in transit, which may run on_reclaim.  Blocking; not in transit. */
void transit_wait(const haft_table *table);

/* How often waiting slots were put under later tickets, or behind them, for want of room. */
uint64_t transit_moves(const haft_table *table);

#endif /* HAFT_CONCURRENT_HANDED_H */

/*
 * concurrent/table/retire.h - the way out: free and abort, and the batches they fill.
 *
 * All functions: the worker's thread, lock-free; never allocate, never call back.
 */
#ifndef HAFT_CONCURRENT_RETIRE_H
#define HAFT_CONCURRENT_RETIRE_H

#include "concurrent/table/life.h"

/* The batch, whose slots' lives have ended, takes its ticket and waits. */
void retire_batch(haft_worker *worker, struct batch *batch);

/* The open batch takes its ticket and waits, if there is anything in it. */
void retire_open(haft_worker *worker);

/* Hand all slots that the worker holds on to others. */
void retire_hand_on(haft_worker *worker);

/* haft_abort, as called from `caller`. */
void worker_abort(haft_worker *worker, haft_id id, const void *caller);

/* The answer of a free to an id that was not live when it looked; counted. */
haft_status worker_refusal(haft_worker *worker, haft_id id);

/*
 * End the life of `id`: its slot is the caller's to put into the open batch.  HAFT_OK to one of all
 * threads that try, else worker_refusal().
 */
static inline haft_status worker_end_life(haft_worker *worker, haft_id id)
{
    const struct slots *slots = &worker->table->slots;
    uint64_t next;

    if (!life_end(slots, id, &next)) {
        return worker_refusal(worker, id);
    }
    count_up(&worker->counters.freed, 1);
    if (word_generation(&slots->format, next) == 0) {
        worker->open->has_last_lives = true;
    }
    return HAFT_OK;
}

#endif /* HAFT_CONCURRENT_RETIRE_H */

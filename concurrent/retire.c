/*
 * The way out: free and abort, and closing the batches they fill.
 *
 * Edges in this file.
 *   REVIVE  haft_abort (release) -> haft_recycle_exhausted (acquire)   what was written into a slot
 *           that is given up in its last life
 *   OWN     only this worker writes the word, or has the batch
 */
#include "concurrent/table.h"
#include <assert.h>
#include <stddef.h>

static void remember(struct backlog *backlog, uint64_t ticket)
{
    if (backlog->next - backlog->first == CLOSINGS) {
        backlog->first++; /* its slots count with the next closing's, so as not done */
    }
    backlog->closings[backlog->next % CLOSINGS] = (struct closing){ticket, backlog->retired};
    backlog->next++;
}

void worker_close_batch(haft_worker *worker)
{
    struct batch *batch = worker->open;

    if (batch->count == 0) {
        return;
    }
    /* Only now: the ticket stands for every free in the batch. */
    const uint64_t ticket = domain_ticket(worker->table->domain);

    store_relaxed(OWN, &batch->ticket, ticket);
    batch->retired = batch->count;
    worker->backlog.retired += batch->count;
    remember(&worker->backlog, ticket);
    worker->open = worker_empty_batch(worker);
    worker_shelve(worker, batch);
}

/*
 * Out of the common way: the open batch is full, or the table counts its objects.  Not inlined: it
 * would cost haft_free a stack frame.
 */
static __attribute__((noinline)) void look_further(haft_worker *worker)
{
    if (worker->table->is_exact) {
        exact_give(worker->table);
    }
    if (worker->open->count >= worker->share) {
        worker_close_batch(worker);
    }
}

static inline void retire(haft_worker *worker, uint64_t index)
{
    struct batch *batch = worker->open;

    batch->indices[batch->count++] = (uint32_t)index;
    if (batch->count >= worker->look_at) {
        look_further(worker);
    }
}

haft_status table_refusal(const haft_table *table, haft_id id)
{
    const haft_status status = slots_diagnose(&table->slots, id);

    return status == HAFT_OK ? HAFT_RESERVED : status; /* published since */
}

haft_status haft_free(haft_worker *worker, haft_id id)
{
    const haft_status status = worker_claim(worker, id);

    if (status == HAFT_OK) {
        count_up(&worker->counters.freed, 1);
        retire(worker, id.bits & worker->table->slots.view.mask);
    }
    return status;
}

void haft_abort(haft_worker *worker, haft_id id)
{
    const haft_table *table = worker->table;
    const struct word_format *format = &table->slots.format;
    const uint64_t index = word_index(format, id.bits);
    atomic_u64 *word = slots_word(&table->slots, index);
    const uint64_t next = word_next_life(format, id.bits, MARK_END);

    assert(load_relaxed(OWN, word) == word_with_index(format, id.bits, MARK_RESERVED));
    count_up(&worker->counters.aborted, 1);
    if (word_generation(format, next) == 0) { /* its last life: nothing to take back */
        /* Weakened, whoever recycles the slot could write before what was written here. */
        store_release(REVIVE, word, word_with_index(format, next, MARK_EXHAUSTED));
        count_up(&worker->counters.reclaimed, 1);
        count_up(&worker->counters.exhausted, 1);
        if (table->is_exact) {
            exact_give(worker->table);
        }
        return;
    }
    store_relaxed(OWN, word, next);
    retire(worker, index);
}

/*
 * The way out: free and abort, and closing the batches they fill.
 *
 * Edges in this file.
 *   PUBLISH  haft_publish (release) -> haft_free (acquire)   object before word: who frees an
 *            object has its last word on it
 *   CLAIM    one winner per id: the atomicity of the compare-and-swap in haft_free
 *   OWN      only this worker writes the word, or has the batch
 *   RETRY    a first look; the compare-and-swap decides
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

static inline void retire(haft_worker *worker, uint64_t index)
{
    struct batch *batch = worker->open;

    batch->indices[batch->count++] = (uint32_t)index;
    if (batch->count >= worker->share) {
        worker_close_batch(worker);
    }
}

/* What free says of an id that was not live when it looked. */
static haft_status refusal(const haft_table *table, haft_id id)
{
    const haft_status status = slots_diagnose(&table->slots, id);

    return status == HAFT_OK ? HAFT_RESERVED : status; /* published since */
}

haft_status haft_free(haft_worker *worker, haft_id id)
{
    const haft_table *table = worker->table;
    const struct word_format *format = &table->slots.format;
    const uint64_t index = id.bits & table->slots.view.mask;
    atomic_u64 *word = slots_word(&table->slots, index);

    /* A compare-and-swap that must fail would still dirty the line. */
    if (load_relaxed(RETRY, word) != id.bits) {
        return refusal(table, id);
    }
    const uint64_t next = word_next_life(format, id.bits, MARK_FREE);

    /* Weakened, the slot's next tenant could be written before the object's first bytes are. */
    if (!cas_acquire(PUBLISH, word, id.bits, next)) {
        return refusal(table, id);
    }
    if (word_generation(format, next) == 0) {
        worker->open->has_last_lives = true;
    }
    count_up(&worker->counters.freed, 1);
    retire(worker, index);
    return HAFT_OK;
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
        store_relaxed(OWN, word, word_with_index(format, next, MARK_EXHAUSTED));
        count_up(&worker->counters.reclaimed, 1);
        count_up(&worker->counters.exhausted, 1);
        return;
    }
    store_relaxed(OWN, word, next);
    retire(worker, index);
}

/*
 * The way out: free and abort, and closing the batches they fill.
 *
 * Edges in this file.
 *   REVIVE  haft_abort (release) -> haft_recycle_exhausted (acquire)   what was written into a slot
 *           that is given up in its last life
 *   OWN     only this worker writes the word, or has the batch
 */
#include "concurrent/table/debug.h"
#include "concurrent/table/table.h"
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
    batch->retired = (uint16_t)batch->count;
    worker->backlog.retired += batch->count;
    remember(&worker->backlog, ticket);
    worker->open = worker_empty_batch(worker);
    worker_shelve(worker, batch);
}

/*
 * Out of the common way: the open batch is full, or the table counts its objects, or keeps places.
 * Not inlined: it would cost haft_free a stack frame.
 */
static __attribute__((noinline)) void look_further(haft_worker *worker, const void *caller)
{
    const struct batch *open = worker->open;

    places_note_death(&worker->table->slots.places, open->indices[open->count - 1], caller);
    if (worker->table->is_exact) {
        exact_give(worker->table);
    }
    if (open->count >= worker->share) {
        worker_close_batch(worker);
    }
}

/* Slot `index`, whose life has ended, is one of those that wait.  True: look_further(). */
static inline bool retire(haft_worker *worker, uint64_t index)
{
    struct batch *batch = worker->open;

    batch->indices[batch->count++] = (uint32_t)index;
    return batch->count >= worker->look_at;
}

haft_status worker_refusal(haft_worker *worker, haft_id id)
{
    const haft_status status = slots_diagnose(&worker->table->slots, id);

    count_up(&worker->counters.refused, 1);
    return status == HAFT_OK ? HAFT_RESERVED : status; /* published since */
}

static inline haft_status end_life(haft_worker *worker, haft_id id, bool *looks)
{
    const haft_status status = worker_claim(worker, id);

    *looks = false;
    if (status == HAFT_OK) {
        count_up(&worker->counters.freed, 1);
        *looks = retire(worker, id.bits & worker->table->slots.view.mask);
    }
    return status;
}

haft_status worker_free(haft_worker *worker, haft_id id, const void *caller)
{
    bool looks;
    const haft_status status = end_life(worker, id, &looks);

    if (looks) {
        look_further(worker, caller);
    }
    return status;
}

/* The same, and asks for its caller only where that is wanted. */
haft_status haft_free(haft_worker *worker, haft_id id)
{
    const uint64_t outer = debug_enter(worker);
    bool looks;
    const haft_status status = end_life(worker, id, &looks);

    if (__builtin_expect(looks, 0)) {
        look_further(worker, CALLER);
    }
    debug_leave(worker, outer);
    return status;
}

void worker_abort(haft_worker *worker, haft_id id, const void *caller)
{
    const haft_table *table = worker->table;
    const struct word_format *format = &table->slots.format;
    const uint64_t index = word_index(format, id.bits);
    atomic_u64 *word = slots_word(&table->slots, index);
    uint64_t next = word_next_life(format, id.bits, MARK_END);

    assert(load_relaxed(OWN, word) == word_with_index(format, id.bits, MARK_RESERVED));
    count_up(&worker->counters.aborted, 1);
    slots_rest(&table->slots, word);
    next = table->slots.wrapped ? word_wrapped(format, next) : next;
    if (word_generation(format, next) == 0) { /* its last life: nothing to take back */
        places_note_death(&table->slots.places, index, caller);
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
    if (retire(worker, index)) {
        look_further(worker, caller);
    }
}

void haft_abort(haft_worker *worker, haft_id id)
{
    const uint64_t outer = debug_enter(worker);

    worker_abort(worker, id, CALLER);
    debug_leave(worker, outer);
}

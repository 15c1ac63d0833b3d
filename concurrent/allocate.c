/*
 * The way in: reserve, publish, insert, and where a worker finds slots.
 *
 * Edges in this file.
 *   PUBLISH  haft_publish (release) -> haft_resolve, haft_free (acquire)   object before word
 *   OWN      only this worker writes the word, or has the batch
 *   HINT     hunger: other workers hand on their slots sooner or later
 */
#include "concurrent/rcu.h"
#include "concurrent/table.h"
#include <assert.h>
#include <stddef.h>

/* Fill the empty filling batch with fresh slots, the lowest on top. */
static haft_status fill_fresh(haft_worker *worker)
{
    struct batch *batch = worker->filling;
    haft_status status;
    uint64_t first;
    const uint64_t taken = worker_take_fresh(worker, worker->share, &first, &status);

    for (uint64_t i = 0; i < taken; i++) {
        batch->indices[i] = (uint32_t)(first + taken - 1 - i);
    }
    batch->count = (uint32_t)taken;
    return taken != 0 ? HAFT_OK : status;
}

/* Make a batch that is ready the filling one, and take its slots back. */
static void fill_from(haft_worker *worker, struct batch *batch)
{
    worker_give_batch(worker, worker->filling);
    worker->filling = batch;
    worker_reclaim(worker, batch);
}

/* Nothing to be had: make others, and the clock, hand on what they have. */
static haft_status starve(haft_worker *worker, haft_status fresh)
{
    haft_table *table = worker->table;

    worker_close_batch(worker);
    fetch_add_relaxed(HINT, &table->hunger, 1);
    domain_hurry(table->domain);
    domain_notice_stall(table->domain);
    return fresh == HAFT_NO_MEMORY ? fresh : table_shortage(table, worker);
}

/* At least one slot into the filling batch. */
static haft_status fill(haft_worker *worker)
{
    do {
        struct batch *batch = worker_take_ready(worker);

        if (batch == NULL) {
            const haft_status status = fill_fresh(worker);

            if (status == HAFT_OK) {
                return HAFT_OK;
            }
            batch = worker_steal_ready(worker);
            if (batch == NULL) {
                return starve(worker, status);
            }
        }
        fill_from(worker, batch);
    } while (worker->filling->count == 0); /* exhausted, or used by on_reclaim */
    return HAFT_OK;
}

/* Hand on what the filling batch has beyond the worker's share. */
static void keep_share(haft_worker *worker)
{
    struct batch *filling = worker->filling;
    const uint32_t share = worker->share - 1;

    if (filling->count > share) {
        struct batch *rest = worker_empty_batch(worker);

        store_relaxed(OWN, &rest->ticket, 0);
        batch_move(rest, filling, filling->count - share);
        worker_shelve(worker, rest);
    }
}

/* A slot when the filling batch is empty. */
static haft_status take_slot_slowly(haft_worker *worker, uint64_t *index)
{
    haft_status status;

    if (worker->reclaiming) { /* the filling batch is in use: fresh slots go past it */
        return worker_take_fresh(worker, 1, index, &status) != 0 ? HAFT_OK : HAFT_BUSY;
    }
    status = fill(worker);
    if (status == HAFT_OK) {
        *index = worker->filling->indices[--worker->filling->count];
        keep_share(worker);
    }
    return status;
}

static inline haft_status take_slot(haft_worker *worker, uint64_t *index)
{
    struct batch *filling = worker->filling;

    if (filling->count == 0) {
        return take_slot_slowly(worker, index);
    }
    *index = filling->indices[--filling->count];
    return HAFT_OK;
}

/* A slot with its next life's id; nobody sees it. */
static inline haft_status take_id(haft_worker *worker, haft_id *id, atomic_u64 **word)
{
    const struct slots *slots = &worker->table->slots;
    uint64_t index;
    const haft_status status = take_slot(worker, &index);

    if (status == HAFT_OK) {
        *word = slots_word(slots, index);
        id->bits =
            word_with_index(&slots->format, slots_begin(slots, load_relaxed(OWN, *word)), index);
    }
    return status;
}

haft_status haft_reserve(haft_worker *worker, haft_id *id, void **object)
{
    atomic_u64 *word;
    const haft_status status = take_id(worker, id, &word);

    if (status != HAFT_OK) {
        return status;
    }
    store_relaxed(OWN, word,
                  word_with_index(&worker->table->slots.format, id->bits, MARK_RESERVED));
    count_up(&worker->counters.reserved, 1);
    if (object != NULL) {
        *object = slots_object(word);
    }
    return HAFT_OK;
}

void haft_publish(haft_worker *worker, haft_id id)
{
    const struct slots *slots = &worker->table->slots;
    atomic_u64 *word = slots_word(slots, word_index(&slots->format, id.bits));

    assert(load_relaxed(OWN, word) == word_with_index(&slots->format, id.bits, MARK_RESERVED));
    count_up(&worker->counters.published, 1);
    /* Weakened, a reader could match the id and read the object's bytes from before. */
    store_release(PUBLISH, word, id.bits);
}

haft_status haft_insert(haft_worker *worker, const void *object, haft_id *id)
{
    atomic_u64 *word;
    const haft_status status = take_id(worker, id, &word);

    if (status == HAFT_OK) {
        slots_fill(&worker->table->slots, slots_object(word), object);
        count_up(&worker->counters.inserted, 1);
        store_release(PUBLISH, word, id->bits); /* as in haft_publish() */
    }
    return status;
}

haft_status haft_insert_wait(haft_worker *worker, const void *object, haft_id *id)
{
    haft_status status = haft_insert(worker, object, id);

    while (status == HAFT_BUSY) {
        status = rcu_in_section(worker->table->domain->flavour) ? HAFT_IN_SECTION : HAFT_OK;
        if (status == HAFT_OK) {
            domain_drive(worker->table->domain);
            status = haft_insert(worker, object, id);
        }
    }
    return status;
}

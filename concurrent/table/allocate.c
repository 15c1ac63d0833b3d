/*
 * The way in: reserve, publish, insert, and where a worker finds slots.
 *
 * Edges in this file.
 *   PUBLISH  haft_publish (release) -> haft_resolve, haft_free (acquire)   object before word
 *   OWN      only this worker writes the word, or has the batch
 *   HINT     hunger: other workers hand on their slots sooner or later
 */
#include "concurrent/table/debug.h"
#include "concurrent/table/table.h"
#include <assert.h>
#include <sched.h>
#include <stddef.h>

/*
 * Fill the empty filling batch with up to `most` slots that no worker has had: a local table's free
 * ones, or fresh ones, the lowest on top.
 */
static haft_status fill_fresh(haft_worker *worker, uint64_t most)
{
    struct batch *batch = worker->filling;
    haft_status status = HAFT_OK;
    uint64_t first;
    uint64_t taken = worker_take_listed(worker, most, batch->indices);

    if (taken == 0) {
        taken = worker_take_fresh(worker, most, &first, &status);
        for (uint64_t i = 0; i < taken; i++) {
            batch->indices[i] = (uint32_t)(first + taken - 1 - i);
        }
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
    return table_shortage(table, worker, fresh);
}

/* Hand on what the filling batch has beyond `share` slots. */
static void keep(haft_worker *worker, uint32_t share)
{
    struct batch *filling = worker->filling;

    if (filling->count > share) {
        struct batch *rest = worker_empty_batch(worker);

        store_relaxed(OWN, &rest->ticket, 0);
        batch_move(rest, filling, filling->count - share);
        worker_shelve(worker, rest);
    }
}

/*
 * See whether the table fills, unless that is for another to do: whoever runs on_reclaim, or has
 * the lock of the common worker.  True if the worker has slots now.
 */
static bool look_at_fill(haft_worker *worker)
{
    if (!worker->reclaiming && load_relaxed(OWN, &worker->state) != WORKER_COMMON) {
        table_look_at_fill(worker->table, 1);
    }
    return worker->filling->count != 0;
}

haft_status worker_fill(haft_worker *worker)
{
    const haft_table *table = worker->table;

    if (table->slots.fill.warn_at != 0 && look_at_fill(worker)) {
        return HAFT_OK; /* on_fill has used the worker */
    }
    if (exact_is_full(table)) {
        return HAFT_FULL; /* and no slot is looked for */
    }
    if (worker->reclaiming) {
        /* The batch is being taken back: its own slots follow, and its first places are free. */
        const haft_status fresh = fill_fresh(worker, 1);

        return fresh == HAFT_OK ? fresh : table_shortage(worker->table, worker, fresh);
    }
    do {
        struct batch *batch = worker_take_ready(worker);

        if (batch == NULL) {
            const haft_status status = fill_fresh(worker, worker->share);

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
    keep(worker, worker->share);
    return HAFT_OK;
}

/* The next slot of the filling batch, which has one, and the id of its next life. */
static inline atomic_u64 *take_slot(haft_worker *worker, haft_id *id)
{
    const struct slots *slots = &worker->table->slots;
    struct batch *filling = worker->filling;
    const uint64_t index = filling->indices[--filling->count];
    atomic_u64 *word = slots_word(slots, index);

    *id = next_id(slots, word, index);
    return word;
}

haft_status worker_reserve(haft_worker *worker, haft_id *id, void **object, const void *caller)
{
    const haft_status status = worker->filling->count != 0 ? HAFT_OK : worker_fill(worker);

    if (status != HAFT_OK) {
        return status;
    }
    /* After the slot is found: nobody is told HAFT_FULL for the sake of one who then finds none. */
    if (worker->table->is_exact && exact_take(worker->table, 1) == 0) {
        return HAFT_FULL;
    }
    atomic_u64 *word = take_slot(worker, id);

    places_note_birth(&worker->table->slots.places,
                      word_index(&worker->table->slots.format, id->bits), caller);
    mark_reserved(&worker->table->slots, word, *id);
    tally(&worker->counters.reserved, 1);
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

haft_status haft_reserve(haft_worker *worker, haft_id *id, void **object)
{
    const uint64_t outer = debug_enter(worker);
    const haft_status status = worker_reserve(worker, id, object, CALLER);

    debug_leave(worker, outer);
    return status;
}

/*
 * haft_insert when the filling batch is empty, or the table is none for the quick way.  Not
 * inlined: its calls would cost haft_insert a stack frame.
 */
__attribute__((noinline)) haft_status worker_insert(haft_worker *worker, const void *object,
                                                    haft_id *id, const void *caller)
{
    void *bytes;
    const haft_status status = worker_reserve(worker, id, &bytes, caller);

    if (status == HAFT_OK) {
        slots_fill(&worker->table->slots, bytes, object);
        haft_publish(worker, *id);
    }
    return status;
}

static inline haft_status insert(haft_worker *worker, const void *object, haft_id *id,
                                 const void *caller)
{
    const struct slots *slots = &worker->table->slots;

    if (worker->filling->count == 0 || object == NULL || !worker->table->is_quick) {
        return worker_insert(worker, object, id, caller);
    }
    haft_id taken;
    atomic_u64 *word = take_slot(worker, &taken);

    *id = taken;
    slots_copy_words(slots, slots_object(word), object);
    tally(&worker->counters.inserted, 1);
    store_release(PUBLISH, word, taken.bits); /* as in haft_publish() */
    return HAFT_OK;
}

haft_status haft_insert(haft_worker *worker, const void *object, haft_id *id)
{
    const uint64_t outer = debug_enter(worker);
    const haft_status status = insert(worker, object, id, CALLER);

    debug_leave(worker, outer);
    return status;
}

/* After `status`, the answer of a first try. */
static haft_status wait_to_reserve(haft_worker *worker, haft_id *id, void **object,
                                   haft_status status, const void *caller)
{
    haft_domain *domain = worker->table->domain;

    while (status == HAFT_BUSY) {
        if (domain_in_section(domain)) {
            return HAFT_IN_SECTION;
        }
        status = domain_wait(domain);
        if (status != HAFT_OK) {
            return status;
        }
        sched_yield(); /* if nothing waits, slots are on their way between workers */
        status = worker_reserve(worker, id, object, caller);
    }
    return status;
}

haft_status haft_reserve_wait(haft_worker *worker, haft_id *id, void **object)
{
    const uint64_t outer = debug_enter(worker);
    const haft_status status =
        wait_to_reserve(worker, id, object, worker_reserve(worker, id, object, CALLER), CALLER);

    debug_leave(worker, outer);
    return status;
}

haft_status haft_insert_wait(haft_worker *worker, const void *object, haft_id *id)
{
    const uint64_t outer = debug_enter(worker);
    haft_status status = insert(worker, object, id, CALLER);

    if (status == HAFT_BUSY) {
        void *bytes;

        status = wait_to_reserve(worker, id, &bytes, status, CALLER);
        if (status == HAFT_OK) {
            slots_fill(&worker->table->slots, bytes, object);
            haft_publish(worker, *id);
        }
    }
    debug_leave(worker, outer);
    return status;
}

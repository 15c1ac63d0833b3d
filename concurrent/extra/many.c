/*
 * Many at once: reserve, publish, insert and free with what they share done once for a batch.
 *
 * Reservations and insertions are counted at once before the first of them is seen.  Frees are
 * counted each by itself: were the count to lag behind by a batch, while others insert,
 * table_shortage() could say HAFT_FULL of a table that never was.
 *
 * Edges in this file.
 *   PUBLISH  haft_publish_many, haft_insert_many (release) -> haft_resolve, haft_free (acquire)
 *            object before word
 *   OWN      only this worker writes the word
 */
#include "concurrent/table/debug.h"
#include "concurrent/table/table.h"
#include <assert.h>
#include <haft/many.h>

#define AHEAD 8 /* slots fetched ahead, to be written */

/* Slots that the worker has taken from its filling batch, the last first. */
struct taken {
    const uint32_t *indices;
    uint32_t count;
    const void *caller;
};

static void fetch(const struct slots *slots, uint64_t index)
{
    __builtin_prefetch(slots_word(slots, index), 1);
}

/* Up to `most` slots, at least one: they stay where they are until the batch is filled again. */
static haft_status take_some(haft_worker *worker, size_t most, struct taken *taken)
{
    const haft_status status = worker->filling->count != 0 ? HAFT_OK : worker_fill(worker);
    struct batch *filling = worker->filling;

    if (status == HAFT_OK) {
        taken->count = most < filling->count ? (uint32_t)most : filling->count;
        if (worker->table->is_exact) {
            taken->count = (uint32_t)exact_take(worker->table, taken->count);
            if (taken->count == 0) {
                return HAFT_FULL;
            }
        }
        filling->count -= taken->count;
        taken->indices = &filling->indices[filling->count];
    }
    return status;
}

/* The slots' words are on their way. */
static void fetch_first(const struct slots *slots, struct taken taken)
{
    for (uint32_t i = taken.count; i > 0 && i + AHEAD > taken.count; i--) {
        fetch(slots, taken.indices[i - 1]);
    }
}

/* The next one of them, with another on its way. */
static uint64_t take_next(const struct slots *slots, struct taken *taken)
{
    const uint64_t index = taken->indices[--taken->count];

    if (taken->count >= AHEAD) {
        fetch(slots, taken->indices[taken->count - AHEAD]);
    }
    return index;
}

static void reserve_taken(haft_worker *worker, struct taken taken, haft_id *ids, void **objects)
{
    const struct slots *slots = &worker->table->slots;

    tally(&worker->counters.reserved, taken.count);
    fetch_first(slots, taken);
    for (size_t i = 0; taken.count != 0; i++) {
        const uint64_t index = take_next(slots, &taken);
        atomic_u64 *word = slots_word(slots, index);

        ids[i] = next_id(slots, word, index);
        places_note_birth(&slots->places, index, taken.caller);
        mark_reserved(slots, word, ids[i]);
        if (objects != NULL) {
            objects[i] = slots_object(word);
        }
    }
}

size_t haft_reserve_many(haft_worker *worker, haft_id *ids, void **objects, size_t count,
                         haft_status *why)
{
    const uint64_t outer = debug_enter(worker);
    haft_status status = HAFT_OK;
    size_t done = 0;
    struct taken taken = {.caller = CALLER};

    while (done < count && (status = take_some(worker, count - done, &taken)) == HAFT_OK) {
        reserve_taken(worker, taken, ids + done, objects != NULL ? objects + done : NULL);
        done += taken.count;
    }
    debug_leave(worker, outer);
    if (why != NULL) {
        *why = status;
    }
    return done;
}

void haft_publish_many(haft_worker *worker, const haft_id *ids, size_t count)
{
    const struct slots *slots = &worker->table->slots;

    count_up(&worker->counters.published, count);
    for (size_t i = 0; i < count; i++) {
        atomic_u64 *word = slots_word(slots, word_index(&slots->format, ids[i].bits));

        assert(load_relaxed(OWN, word) ==
               word_with_index(&slots->format, ids[i].bits, MARK_RESERVED));
        store_release(PUBLISH, word, ids[i].bits); /* as in haft_publish() */
    }
}

/* Fill the slot's object, and publish it. */
static void insert_into(const struct slots *slots, uint64_t index, const void *object, haft_id *id)
{
    atomic_u64 *word = slots_word(slots, index);

    *id = next_id(slots, word, index);
    if (object != NULL && slots_has_words(slots)) {
        slots_copy_words(slots, slots_object(word), object);
    } else {
        slots_fill(slots, slots_object(word), object);
    }
    store_release(PUBLISH, word, id->bits); /* as in haft_publish() */
}

static void insert_taken(haft_worker *worker, struct taken taken, const char *objects, haft_id *ids)
{
    const struct slots *slots = &worker->table->slots;

    tally(&worker->counters.inserted, taken.count);
    fetch_first(slots, taken);
    for (size_t i = 0; taken.count != 0; i++) {
        const uint64_t index = take_next(slots, &taken);

        places_note_birth(&slots->places, index, taken.caller);
        insert_into(slots, index, objects != NULL ? objects + i * slots->object_size : NULL,
                    &ids[i]);
    }
}

size_t haft_insert_many(haft_worker *worker, const void *objects, haft_id *ids, size_t count,
                        haft_status *why)
{
    const uint64_t outer = debug_enter(worker);
    const size_t size = worker->table->slots.object_size;
    const char *bytes = objects;
    haft_status status = HAFT_OK;
    size_t done = 0;
    struct taken taken = {.caller = CALLER};

    while (done < count && (status = take_some(worker, count - done, &taken)) == HAFT_OK) {
        insert_taken(worker, taken, bytes != NULL ? bytes + done * size : NULL, ids + done);
        done += taken.count;
    }
    debug_leave(worker, outer);
    if (why != NULL) {
        *why = status;
    }
    return done;
}

/* What haft_free_many() has still to do, and has done. */
struct freeing {
    const haft_id *ids;
    haft_status *statuses;
    size_t count;
    const void *caller;
    size_t next;
    size_t freed;
};

/* Free ids until the open batch is full, or all are done. */
static void free_some(haft_worker *worker, struct freeing *freeing)
{
    const struct slots *slots = &worker->table->slots;
    struct batch *open = worker->open;
    const uint32_t before = open->count;

    while (open->count < worker->share && freeing->next < freeing->count) {
        const size_t i = freeing->next++;
        const haft_id id = freeing->ids[i];

        if (freeing->count - i > AHEAD) {
            fetch(slots, freeing->ids[i + AHEAD].bits & slots->view.mask);
        }
        const haft_status status = worker_claim(worker, id);

        if (status == HAFT_OK) {
            count_up(&worker->counters.freed, 1);
            if (worker->table->is_exact) {
                exact_give(worker->table);
            }
            places_note_death(&slots->places, id.bits & slots->view.mask, freeing->caller);
            open->indices[open->count++] = (uint32_t)(id.bits & slots->view.mask);
        }
        if (freeing->statuses != NULL) {
            freeing->statuses[i] = status;
        }
    }
    freeing->freed += open->count - before;
}

size_t haft_free_many(haft_worker *worker, const haft_id *ids, size_t count, haft_status *statuses)
{
    const struct slots *slots = &worker->table->slots;
    struct freeing freeing = {.ids = ids, .statuses = statuses, .count = count, .caller = CALLER};
    const uint64_t outer = debug_enter(worker);

    for (size_t i = 0; i < count && i < AHEAD; i++) {
        fetch(slots, ids[i].bits & slots->view.mask);
    }
    while (freeing.next < count) {
        free_some(worker, &freeing);
        if (worker->open->count >= worker->share) {
            worker_close_batch(worker);
        }
    }
    debug_leave(worker, outer);
    return freeing.freed;
}

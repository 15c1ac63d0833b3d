/*
 * Many at once: reserve, publish, insert and free do their common steps once for a batch.
 *
 * Reservations and insertions are counted together, before the first of them is seen.  Frees are
 * counted one by one: if the count lagged behind by a batch while others insert, stats_shortage()
 * could say HAFT_FULL of a table that was never full.
 */
#include "concurrent/table/debug.h"
#include "concurrent/table/life.h"
#include "concurrent/table/retire.h"
#include "concurrent/table/stats.h"
#include "concurrent/table/supply.h"
#include "lib/slots/object.h"
#include <assert.h>
#include <haft/table.h>

#define SLOTS_AHEAD 8 /* slots fetched ahead, to be written */

static void fetch(const struct slots *slots, uint64_t index)
{
    __builtin_prefetch(slots_word(slots, index), 1);
}

/* The slots in `taken` are in use: on_fill, if it is time for it. */
static void look_at_fill_after(haft_worker *worker, const struct supply *taken)
{
    if (taken->is_new) {
        stats_look_at_fill(worker->table);
    }
}

/* The slots' words are on their way. */
static void fetch_first(const struct slots *slots, struct supply taken)
{
    for (uint32_t i = taken.count; i > 0 && i + SLOTS_AHEAD > taken.count; i--) {
        fetch(slots, taken.indices[i - 1]);
    }
}

/* The next one of them, with another on its way. */
static uint64_t take_next(const struct slots *slots, struct supply *taken)
{
    const uint64_t index = taken->indices[--taken->count];

    if (taken->count >= SLOTS_AHEAD) {
        fetch(slots, taken->indices[taken->count - SLOTS_AHEAD]);
    }
    return index;
}

static void reserve_taken(haft_worker *worker, struct supply taken, const void *caller,
                          haft_id *ids, void **objects)
{
    const struct slots *slots = &worker->table->slots;

    tally(&worker->counters.reserved, taken.count);
    fetch_first(slots, taken);
    for (size_t i = 0; taken.count != 0; i++) {
        const uint64_t index = take_next(slots, &taken);
        atomic_u64 *word = slots_word(slots, index);

        ids[i] = life_next_id(slots, word, index);
        sites_note_birth(&slots->sites, index, caller);
        life_reserve(slots, word, ids[i]);
        if (objects != NULL) {
            objects[i] = slots_object(word);
        }
    }
}

size_t haft_reserve_many(haft_worker *worker, haft_id *ids, void **objects, size_t count,
                         haft_status *why)
{
    debug_check(worker);
    haft_status status = HAFT_OK;
    size_t done = 0;
    struct supply taken;
    const void *caller = CALLER;

    while (done < count && (status = supply_take(worker, count - done, &taken)) == HAFT_OK) {
        reserve_taken(worker, taken, caller, ids + done, objects != NULL ? objects + done : NULL);
        done += taken.count;
        look_at_fill_after(worker, &taken);
    }
    if (why != NULL) {
        *why = status;
    }
    return done;
}

void haft_publish_many(haft_worker *worker, const haft_id *ids, size_t count)
{
    debug_check(worker);
    const struct slots *slots = &worker->table->slots;

    count_up(&worker->counters.published, count);
    for (size_t i = 0; i < count; i++) {
        assert(life_is_reserved(slots, ids[i]));
        life_publish(slots_word(slots, word_index(&slots->format, ids[i].bits)), ids[i]);
    }
}

/* Fill the slot's object, and publish it. */
static void insert_into(const struct slots *slots, uint64_t index, const void *object, haft_id *id)
{
    atomic_u64 *word = slots_word(slots, index);

    *id = life_next_id(slots, word, index);
    if (object != NULL && slots_has_words(slots)) {
        slots_copy_words(slots, slots_object(word), object);
    } else {
        slots_fill(slots, slots_object(word), object);
    }
    life_publish(word, *id);
}

static void insert_taken(haft_worker *worker, struct supply taken, const void *caller,
                         const char *objects, haft_id *ids)
{
    const struct slots *slots = &worker->table->slots;

    tally(&worker->counters.inserted, taken.count);
    fetch_first(slots, taken);
    for (size_t i = 0; taken.count != 0; i++) {
        const uint64_t index = take_next(slots, &taken);

        sites_note_birth(&slots->sites, index, caller);
        insert_into(slots, index, objects != NULL ? objects + i * slots->object_size : NULL,
                    &ids[i]);
    }
}

size_t haft_insert_many(haft_worker *worker, const void *objects, haft_id *ids, size_t count,
                        haft_status *why)
{
    debug_check(worker);
    const size_t size = worker->table->slots.object_size;
    const char *bytes = objects;
    haft_status status = HAFT_OK;
    size_t done = 0;
    struct supply taken;
    const void *caller = CALLER;

    while (done < count && (status = supply_take(worker, count - done, &taken)) == HAFT_OK) {
        insert_taken(worker, taken, caller, bytes != NULL ? bytes + done * size : NULL, ids + done);
        done += taken.count;
        look_at_fill_after(worker, &taken);
    }
    if (why != NULL) {
        *why = status;
    }
    return done;
}

/* The progress of haft_free_many(). */
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

    while (open->count < worker->batch_limit && freeing->next < freeing->count) {
        const size_t i = freeing->next++;
        const haft_id id = freeing->ids[i];

        if (freeing->count - i > SLOTS_AHEAD) {
            fetch(slots, freeing->ids[i + SLOTS_AHEAD].bits & slots->view.mask);
        }
        const haft_status status = worker_end_life(worker, id);

        if (status == HAFT_OK) {
            life_uncount(worker->table, id.bits & slots->view.mask);
            sites_note_death(&slots->sites, id.bits & slots->view.mask, freeing->caller);
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
    debug_check(worker);

    for (size_t i = 0; i < count && i < SLOTS_AHEAD; i++) {
        fetch(slots, ids[i].bits & slots->view.mask);
    }
    while (freeing.next < count) {
        free_some(worker, &freeing);
        if (worker->open->count >= worker->batch_limit) {
            retire_open(worker);
        }
    }
    return freeing.freed;
}

/*
 * Many at once: insert and free do their common steps once for a batch.
 *
 * Insertions are counted together, before the first of them is seen.  Frees are counted one by
 * one: if the count lagged behind by a batch while others insert, occupancy_why_none()
 * could say HAFT_FULL of a table that was never full.
 */
#include "concurrent/worker/life.h"
#include "concurrent/worker/refill.h"
#include "concurrent/worker/retire.h"
#include "concurrent/worker/worker_batches.h"
#include "concurrent/worker/worker_list.h"
#include "lib/base/compiler.h"
#include "lib/slots/object.h"
#include <assert.h>
#include <haft/table.h>

#define SLOTS_AHEAD 8 /* slots fetched ahead, to be written */

static void fetch(const struct slots *slots, uint64_t index)
{
    prefetch_to_write(slots_word(slots, index));
}

/* The words of the first slots are on their way. */
static void fetch_first(const struct slots *slots, const uint32_t *indices, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < SLOTS_AHEAD; i++) {
        fetch(slots, indices[i]);
    }
}

/* Slot number `i`, with another on its way. */
static inline uint64_t slot_at(const struct slots *slots, const uint32_t *indices, uint32_t count,
                               uint32_t i)
{
    if (count - i > SLOTS_AHEAD) {
        fetch(slots, indices[i + SLOTS_AHEAD]);
    }
    return indices[i];
}

/* The objects are a few whole words each. */
static void insert_words(const haft_worker *worker, const uint32_t *indices, uint32_t count,
                         const char *objects, haft_id *ids)
{
    const struct slots slots = {.view = worker->view, .format = worker->table->slots.format};
    const size_t size = worker->object_size;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t index = slot_at(&slots, indices, count, i);
        atomic_u64 *word = slots_word(&slots, index);
        const haft_id id = life_next_id(&slots, word, index);

        object_copy_words(slots_object(word), objects + i * size, size);
        life_publish(word, id);
        ids[i] = id;
    }
}

/* Objects of any size, or zeros. */
static void insert_sized(haft_worker *worker, const uint32_t *indices, uint32_t count,
                         const void *caller, const char *objects, haft_id *ids)
{
    const struct slots *slots = &worker->table->slots;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t index = slot_at(slots, indices, count, i);
        atomic_u64 *word = slots_word(slots, index);

        ids[i] = life_next_id(slots, word, index);
        sites_note_birth(&slots->sites, index, caller);
        slots_fill(slots, slots_object(word),
                   objects != NULL ? objects + i * slots->object_size : NULL);
        life_publish(word, ids[i]);
    }
}

static void insert_found(haft_worker *worker, uint32_t count, const void *caller,
                         const char *objects, haft_id *ids)
{
    const struct slots *slots = &worker->table->slots;
    const uint32_t *indices = filling_next(worker);

    tally(&worker->counters.inserted, count);
    fetch_first(slots, indices, count);
    if (objects != NULL && worker->table->is_quick && slots->sites.records == NULL) {
        insert_words(worker, indices, count, objects, ids);
    } else {
        insert_sized(worker, indices, count, caller, objects, ids);
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
    uint32_t found;
    const void *caller = CALLER;

    while (done < count && (status = refill_if_empty(worker, count - done, &found)) == HAFT_OK) {
        insert_found(worker, found, caller, bytes != NULL ? bytes + done * size : NULL, ids + done);
        done += found;
    }
    if (why != NULL) {
        *why = status;
    }
    return done;
}

size_t haft_free_many(haft_worker *worker, const haft_id *ids, size_t count, haft_status *statuses)
{
    debug_check(worker);
    const struct slots *slots = &worker->table->slots;
    const uint64_t last_life = front_last_life(worker);
    const void *caller = CALLER;
    size_t done = 0;

    for (size_t i = 0; i < count && i < SLOTS_AHEAD; i++) {
        fetch(slots, ids[i].bits & slots->view.mask);
    }
    for (size_t i = 0; i < count; i++) {
        if (count - i > SLOTS_AHEAD) {
            fetch(slots, ids[i + SLOTS_AHEAD].bits & slots->view.mask);
        }
        const haft_status status = haft_worker_front_free(worker, slots->view, last_life, ids[i])
                                       ? HAFT_OK
                                       : worker_free(worker, ids[i], caller);

        done += status == HAFT_OK;
        if (statuses != NULL) {
            statuses[i] = status;
        }
    }
    return done;
}

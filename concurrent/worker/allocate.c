/*
 * The way in: reserve, publish, insert.
 *
 * Edges in this file.
 *   OWN   a slot of the filling batch is the worker's until it is published
 */
#include "concurrent/worker/allocate.h"
#include "concurrent/clock/domain.h"
#include "concurrent/worker/life.h"
#include "concurrent/worker/refill.h"
#include "concurrent/worker/worker_batches.h"
#include "concurrent/worker/worker_list.h"
#include "lib/base/compiler.h"
#include "lib/base/pause.h"
#include "lib/slots/object.h"
#include <assert.h>
#include <stddef.h>

/* Take a slot. */
static haft_status take_index(haft_worker *worker, uint64_t *index)
{
    uint32_t count;
    const haft_status status = refill_if_empty(worker, 1, &count);

    if (status == HAFT_OK) {
        *index = *filling_next(worker);
        filling_use(worker, 1);
    }
    return status;
}

haft_status worker_reserve(haft_worker *worker, haft_id *id, void **object, const void *caller)
{
    const struct slots *slots = &worker->table->slots;
    uint64_t index;
    const haft_status status = take_index(worker, &index);

    if (status != HAFT_OK) {
        return status;
    }
    atomic_u64 *word = life_reserve(slots, index, id);

    sites_note_birth(&slots->sites, index, caller);
    tally(&worker->counters.reserved, 1);
    if (object != NULL) {
        *object = slots_object(word);
    }
    return HAFT_OK;
}

/* haft_publish() without its checks. */
static inline void publish(haft_worker *worker, haft_id id)
{
    const struct slots *slots = &worker->table->slots;

    count_up(&worker->counters.published, 1);
    life_publish(slots_word(slots, word_index(&slots->format, id.bits)), id);
}

void haft_publish(haft_worker *worker, haft_id id)
{
    debug_check(worker);
    assert(life_is_reserved(&worker->table->slots, id) && "an id is reserved, and published once");

    publish(worker, id);
}

haft_status haft_reserve(haft_worker *worker, haft_id *id, void **object)
{
    debug_check(worker);
    struct haft_front_slot slot;

    if (!haft_worker_front_take(worker, worker->view, front_used_from(worker), &slot)) {
        return worker_reserve(worker, id, object, CALLER);
    }
    filling_use(worker, 1);
    tally(&worker->counters.reserved, 1);
    store_relaxed(OWN, slot.word, (slot.id.bits & worker->above_index) | MARK_RESERVED);
    *id = slot.id;
    if (object != NULL) {
        *object = slots_object(slot.word);
    }
    return HAFT_OK;
}

/* haft_insert where the short way does not do.  Inlined, it would cost that a stack frame. */
static NOINLINE haft_status insert_by_calls(haft_worker *worker, const void *object, haft_id *id,
                                            const void *caller)
{
    void *bytes;
    const haft_status status = worker_reserve(worker, id, &bytes, caller);

    if (status == HAFT_OK) {
        slots_fill(&worker->table->slots, bytes, object);
        publish(worker, *id);
    }
    return status;
}

/* Whether the insertion was done in place. */
static inline bool insert(haft_worker *worker, const void *object, haft_id *id)
{
    struct haft_front_slot slot;

    if (HAFT_IF_UNLIKELY(object == NULL) ||
        !haft_worker_front_take(worker, worker->view, worker->called_from, &slot)) {
        return false;
    }
    *id = slot.id;
    object_copy_words(slot.word + 1, object, worker->object_size);
    haft_worker_front_put(worker, slot);
    return true;
}

haft_status haft_insert(haft_worker *worker, const void *object, haft_id *id)
{
    debug_check(worker);

    return HAFT_IF_LIKELY(insert(worker, object, id)) ? HAFT_OK
                                                      : insert_by_calls(worker, object, id, CALLER);
}

/*
 * After `*status`: whether to try again, now that the clock has been waited for; else `*status` is
 * the answer.  `*turn` counts the tries, from 0 on.
 */
static bool await_slots(const haft_table *table, haft_status *status, uint64_t *turn)
{
    haft_domain *domain = table->domain;

    if (*status != HAFT_BUSY) {
        return false;
    }
    *status = haft_domain_wait(domain);
    if (*status == HAFT_OK) { /* also in the child of a fork, if nothing waits there */
        *status = domain_check_process(domain);
    }
    if (*status == HAFT_OK) {
        pause_in_turn((*turn)++); /* if nothing waits, slots are on their way between workers */
    }
    return *status == HAFT_OK;
}

haft_status haft_reserve_wait(haft_worker *worker, haft_id *id, void **object)
{
    debug_check(worker);
    haft_status status;
    uint64_t turn = 0;

    do {
        status = worker_reserve(worker, id, object, CALLER);
    } while (await_slots(worker->table, &status, &turn));
    return status;
}

haft_status haft_insert_wait(haft_worker *worker, const void *object, haft_id *id)
{
    debug_check(worker);
    haft_status status;
    uint64_t turn = 0;

    do {
        status = insert(worker, object, id) ? HAFT_OK : insert_by_calls(worker, object, id, CALLER);
    } while (await_slots(worker->table, &status, &turn));
    return status;
}

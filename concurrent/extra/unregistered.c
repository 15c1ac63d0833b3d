/*
 * Calls without a worker.
 *
 * Reserving borrows a worker; the others need none.  A slot that is freed or given up goes to one
 * of the table's lists, from which searches and duties collect it.
 *
 * Edges in this file.
 *   COUNT   counters of all threads without a worker; the slots travel through the lists
 *   TALLY   haft_abort_unregistered (release) -> count_begun (acquire)   as tally()
 */
#include "concurrent/clock/callback.h"
#include "concurrent/table/allocate.h"
#include "concurrent/table/borrow.h"
#include "concurrent/table/life.h"
#include "concurrent/table/lists.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/worker.h"
#include "lib/slots/diagnose.h"
#include <haft/threads.h>

/* Do the duties with a borrowed worker, which may run on_reclaim, and return it. */
static void return_after_call(haft_worker *worker)
{
    worker_do_duties(worker);
    worker_return(worker);
}

static haft_status reserve_without(haft_table *table, haft_id *id, void **object,
                                   const void *caller)
{
    haft_worker *worker = worker_borrow(table);

    if (worker == NULL) {
        return roster_why_none(table);
    }
    const haft_status status = worker_reserve(worker, id, object, caller);

    return_after_call(worker);
    return status;
}

static haft_status insert_without(haft_table *table, const void *object, haft_id *id,
                                  const void *caller)
{
    haft_worker *worker = worker_borrow(table);

    if (worker == NULL) {
        return roster_why_none(table);
    }
    const haft_status status = worker_insert(worker, object, id, caller);

    return_after_call(worker);
    return status;
}

haft_status haft_reserve_unregistered(haft_table *table, haft_id *id, void **object)
{
    return reserve_without(table, id, object, CALLER);
}

haft_status haft_insert_unregistered(haft_table *table, const void *object, haft_id *id)
{
    return insert_without(table, object, id, CALLER);
}

haft_status haft_reserve_wait_unregistered(haft_table *table, haft_id *id, void **object)
{
    haft_status status;
    uint64_t turn = 0;

    do {
        status = reserve_without(table, id, object, CALLER);
    } while (worker_await_slots(table, &status, &turn));
    return status;
}

haft_status haft_insert_wait_unregistered(haft_table *table, const void *object, haft_id *id)
{
    haft_status status;
    uint64_t turn = 0;

    do {
        status = insert_without(table, object, id, CALLER);
    } while (worker_await_slots(table, &status, &turn));
    return status;
}

void haft_publish_unregistered(haft_table *table, haft_id id)
{
    const struct slots *slots = &table->slots;

    assert(life_is_reserved(slots, id) && "an id is reserved, and published once");
    fetch_add_relaxed(COUNT, &table->counters.published, 1);
    life_publish(slots_word(slots, word_index(&slots->format, id.bits)), id);
}

haft_status haft_table_free(haft_table *table, haft_id id)
{
    const uint64_t index = id.bits & table->slots.view.mask;
    uint64_t next;

    if (!life_end(&table->slots, id, &next)) {
        const haft_status status = slots_diagnose(&table->slots, id);

        fetch_add_relaxed(COUNT, &table->counters.refused_frees, 1);
        return status == HAFT_OK ? HAFT_RESERVED : status; /* published since */
    }
    sites_note_death(&table->slots.sites, index, CALLER);
    fetch_add_relaxed(COUNT, &table->counters.freed, 1);
    callback_note_free();
    list_push(table, LIST_FREED, index);
    return HAFT_OK;
}

void haft_abort_unregistered(haft_table *table, haft_id id)
{
    const uint64_t index = word_index(&table->slots.format, id.bits);

    fetch_add_relaxed(COUNT, &table->counters.aborted, 1);
    sites_note_death(&table->slots.sites, index, CALLER);
    if (life_give_up(&table->slots, id)) {
        list_push(table, LIST_ABORTED, index);
    } else {
        fetch_add_relaxed(COUNT, &table->counters.reclaimed, 1);
        /* Weakened, the slot could count as reserved, and as exhausted too. */
        fetch_add_release(TALLY, &table->counters.exhausted, 1);
    }
}

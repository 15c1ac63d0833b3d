/*
 * The common worker: one for all threads that have none, behind a lock.
 *
 * Its share is one slot, so it holds nothing back and draws nothing from the budget: what is freed
 * through it takes a ticket at once, and of what it finds it keeps the one slot that is asked for.
 * It is no member of a workers clock, since nobody resolves through it.
 *
 * Edges in this file.
 *   OWN   the lock is held, or nobody else knows the worker
 */
#include "concurrent/extra/common.h"
#include <haft/threads.h>

haft_status common_open(haft_table *table)
{
    if (table->common != NULL) {
        return HAFT_OK;
    }
    haft_worker *worker = worker_new(table);

    if (worker == NULL) {
        return HAFT_NO_MEMORY;
    }
    worker_set_share(worker, 1);
    store_relaxed(OWN, &worker->state, WORKER_COMMON);
    table->common = worker;
    return HAFT_OK;
}

haft_worker *common_lock(haft_table *table)
{
    pthread_mutex_lock(&table->common_lock);
    return common_open(table) == HAFT_OK ? table->common : NULL;
}

void common_unlock(haft_table *table)
{
    if (table->unpinned != MARK_END && !table->common->reclaiming) {
        pin_take_back(table);
    }
    pthread_mutex_unlock(&table->common_lock);
}

void common_make_lock(haft_table *table)
{
    pthread_mutexattr_t recursive; /* on_reclaim may call in again */

    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&table->common_lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

void common_init(haft_table *table)
{
    common_make_lock(table);
    table->common = NULL;
    table->unpinned = MARK_END;
}

void common_destroy(haft_table *table)
{
    pthread_mutex_destroy(&table->common_lock);
}

/* Unlock after an insertion, and see whether the table fills; not inside on_reclaim. */
static void unlock_and_look(haft_table *table)
{
    const bool looks = table->slots.fill.warn_at != 0 && !table->common->reclaiming;

    common_unlock(table);
    if (looks) {
        table_look_at_fill(table, 0);
    }
}

haft_status haft_table_reserve(haft_table *table, haft_id *id, void **object)
{
    haft_worker *worker = common_lock(table);
    haft_status status = HAFT_NO_MEMORY;

    if (worker == NULL) {
        common_unlock(table);
        return status;
    }
    status = worker_reserve(worker, id, object, CALLER);
    unlock_and_look(table);
    return status;
}

haft_status haft_table_insert(haft_table *table, const void *object, haft_id *id)
{
    haft_worker *worker = common_lock(table);
    haft_status status = HAFT_NO_MEMORY;

    if (worker == NULL) {
        common_unlock(table);
        return status;
    }
    status = worker_insert(worker, object, id, CALLER);
    unlock_and_look(table);
    return status;
}

void haft_table_publish(haft_table *table, haft_id id)
{
    haft_publish(common_lock(table), id);
    common_unlock(table);
}

void haft_table_abort(haft_table *table, haft_id id)
{
    worker_abort(common_lock(table), id, CALLER);
    common_unlock(table);
}

haft_status haft_table_free(haft_table *table, haft_id id)
{
    haft_worker *worker = common_lock(table);
    const haft_status status = worker != NULL ? worker_free(worker, id, CALLER) : HAFT_NO_MEMORY;

    common_unlock(table);
    return status;
}

/*
 * Fork: what a child needs so that it can go on with its parent's tables.
 *
 * What is lock-free does not mind that all other threads stand still for ever.  That leaves three
 * things.  Locks: the thread that forks takes them all first, so that nobody else has one and what
 * they guard is whole.  Workers of the others: what is theirs alone may be caught half way through
 * a change, so nobody touches it again; rings and extents are open to all as ever.  Clocks: each
 * forgets the others in its own way.
 *
 * Locks of tables are held while on_reclaim runs, and that may open tables: so they are tried, and
 * all given back, the registry's too, if one is not to be had.  That of haft_trim() is among them:
 * in the middle of it free slots are in no batch, and the child would have lost them.
 *
 * Edges in this file.
 *   OWN   the child has one thread
 */
#include <haft/fork.h>

#include "concurrent/extra/common.h"
#include "concurrent/table/registry.h"
#include <unistd.h>

static _Thread_local unsigned depth;

/* Both locks of a table, or none. */
static bool try_lock_table(haft_table *table)
{
    if (pthread_mutex_trylock(&table->common_lock) != 0) {
        return false;
    }
    if (pthread_mutex_trylock(&table->trim_lock) != 0) {
        pthread_mutex_unlock(&table->common_lock);
        return false;
    }
    return true;
}

/* The locks of all tables before `end`; NULL: of all. */
static void unlock_tables(const haft_table *end)
{
    for (haft_table *table = first_open_table(); table != end; table = table->next_open) {
        pthread_mutex_unlock(&table->trim_lock);
        pthread_mutex_unlock(&table->common_lock);
    }
}

/* Under the registry's lock: those of all tables, or none. */
static bool try_lock_tables(void)
{
    for (haft_table *table = first_open_table(); table != NULL; table = table->next_open) {
        if (!try_lock_table(table)) {
            unlock_tables(table);
            return false;
        }
    }
    return true;
}

/* That of the implicit workers comes last: it is held shortly and inside of none. */
void haft_before_fork(void)
{
    if (depth++ != 0) {
        return;
    }
    registry_lock();
    while (!try_lock_tables()) {
        registry_yield();
    }
    implicit_lock();
}

void haft_after_fork_parent(void)
{
    if (--depth != 0) {
        return;
    }
    implicit_unlock();
    unlock_tables(NULL);
    registry_unlock();
}

/* The workers of threads that are gone, or were opening them: never closed, never taken over. */
static void lose_workers(const haft_table *table)
{
    for (haft_worker *worker = first_worker(table); worker != NULL; worker = worker->next) {
        if (load_relaxed(OWN, &worker->state) == WORKER_OPEN && worker->owner != thread_number()) {
            store_relaxed(OWN, &worker->state, WORKER_LOST);
            worker->is_implicit = false;
        }
    }
}

void haft_after_fork_child(void)
{
    if (--depth != 0) {
        return;
    }
    for (haft_domain *domain = first_open_domain(); domain != NULL; domain = domain->next_open) {
        domain->process = getpid();
        store_relaxed(OWN, &domain->sections, 0);
        store_relaxed(OWN, &domain->driven_since, 0);
        domain->clock = domain->clock->after_fork(domain);
    }
    for (haft_table *table = first_open_table(); table != NULL; table = table->next_open) {
        lose_workers(table);
        /* The child may not unlock what the parent locked, if it is recursive. */
        common_make_lock(table);
        pthread_mutex_init(&table->trim_lock, NULL);
    }
    implicit_unlock();
    registry_unlock();
}

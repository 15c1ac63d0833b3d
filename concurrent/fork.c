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
 * all given back if one is not to be had.  That of haft_trim() is among them: in the middle of it
 * free slots are in no batch, and the child would have lost them.
 *
 * Edges in this file.
 *   OWN   the child has one thread
 */
#include "concurrent/fork.h"
#include "concurrent/common.h"
#include <haft/fork.h>
#include <sched.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct listed *domains; /* open; under the lock */
static struct listed *tables;  /* the same */
static _Thread_local unsigned depth;

static void add(struct listed **list, struct listed *listed, void *what)
{
    pthread_mutex_lock(&lock);
    listed->what = what;
    listed->next = *list;
    listed->link = list;
    if (*list != NULL) {
        (*list)->link = &listed->next;
    }
    *list = listed;
    pthread_mutex_unlock(&lock);
}

void list_domain(struct listed *listed, void *domain)
{
    add(&domains, listed, domain);
}

void list_table(struct listed *listed, void *table)
{
    add(&tables, listed, table);
}

void unlist(struct listed *listed)
{
    pthread_mutex_lock(&lock);
    *listed->link = listed->next;
    if (listed->next != NULL) {
        listed->next->link = listed->link;
    }
    pthread_mutex_unlock(&lock);
}

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
static void unlock_tables(const struct listed *end)
{
    for (const struct listed *at = tables; at != end; at = at->next) {
        haft_table *table = at->what;

        pthread_mutex_unlock(&table->trim_lock);
        pthread_mutex_unlock(&table->common_lock);
    }
}

/* All locks but that of the implicit workers, which is held shortly and inside of none. */
static bool try_lock_all(void)
{
    pthread_mutex_lock(&lock);
    for (const struct listed *at = tables; at != NULL; at = at->next) {
        if (!try_lock_table(at->what)) {
            unlock_tables(at);
            pthread_mutex_unlock(&lock);
            return false;
        }
    }
    return true;
}

void haft_before_fork(void)
{
    if (depth++ != 0) {
        return;
    }
    while (!try_lock_all()) {
        sched_yield();
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
    pthread_mutex_unlock(&lock);
}

/* The workers of threads that are gone: never closed, never taken over. */
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
    for (const struct listed *at = domains; at != NULL; at = at->next) {
        haft_domain *domain = at->what;

        domain->process = getpid();
        store_relaxed(OWN, &domain->sections, 0);
        store_relaxed(OWN, &domain->driven_since, 0);
        domain->clock = domain->clock->after_fork(domain);
    }
    for (const struct listed *at = tables; at != NULL; at = at->next) {
        haft_table *table = at->what;

        lose_workers(table);
        /* The child may not unlock what the parent locked, if it is recursive. */
        common_make_lock(table);
        pthread_mutex_init(&table->trim_lock, NULL);
    }
    implicit_unlock();
    pthread_mutex_unlock(&lock);
}

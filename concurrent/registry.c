/* The list of open tables. */
#include "concurrent/registry.h"
#include <pthread.h>
#include <stddef.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static haft_table *open_tables; /* under the lock; debuggers look for it by this name */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

void registry_add(haft_table *table)
{
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    table->next_open = open_tables;
    open_tables = table;
    pthread_mutex_unlock(&lock);
}

void registry_remove(haft_table *table)
{
    haft_table **link = &open_tables;

    pthread_mutex_lock(&lock);
    while (*link != table) {
        link = &(*link)->next_open;
    }
    *link = table->next_open;
    pthread_mutex_unlock(&lock);
}

const haft_table *registry_lock(void)
{
    pthread_mutex_lock(&lock);
    return open_tables;
}

void registry_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* The list of open counted tables. */
#include "concurrent/counted/open_list.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"
#include <assert.h>
#include <stddef.h>

static struct os_mutex open_list_mutex;
static haft_counted *open_counted; /* under the lock; debuggers look for it by this name */
static uint64_t counted_tables;    /* under the lock too */

void open_list_lock(void)
{
    os_mutex_lock(&open_list_mutex);
}

void open_list_unlock(void)
{
    os_mutex_unlock(&open_list_mutex);
}

/* Before main: see concurrent/clock/registry.c for the order of locks in a fork. */
AT_START(101, guard_open_list);

static void guard_open_list(void)
{
    os_on_fork(open_list_lock, open_list_unlock, open_list_unlock);
}

void open_list_add(haft_counted *table)
{
    open_list_lock();
    table->number = ++counted_tables;
    table->next_open = open_counted;
    table->open_link = &open_counted;
    if (open_counted != NULL) {
        open_counted->open_link = &table->next_open;
    }
    open_counted = table;
    open_list_unlock();
}

void open_list_remove(haft_counted *table)
{
    open_list_lock();
    assert(*table->open_link == table && "it is in the list");
    *table->open_link = table->next_open;
    if (table->next_open != NULL) {
        table->next_open->open_link = table->open_link;
    }
    open_list_unlock();
}

const haft_counted *open_list_first(void)
{
    return open_counted;
}

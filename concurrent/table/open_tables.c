/*
 * The list of open tables.
 *
 * Edges in this file.
 *   COUNT   the tables of a domain, under the lock too: the child of a fork finds both the same
 */
#include "concurrent/table/open_tables.h"
#include "concurrent/clock/registry.h"
#include <stddef.h>

static haft_table *open_tables; /* under the lock; debuggers look for it by this name */

void tables_add(haft_table *table)
{
    registry_lock();
    table->next_open = open_tables;
    table->open_link = &open_tables;
    if (open_tables != NULL) {
        open_tables->open_link = &table->next_open;
    }
    open_tables = table;
    fetch_add_relaxed(COUNT, &table->domain->tables, 1);
    registry_unlock();
}

void tables_remove(haft_table *table)
{
    registry_lock();
    *table->open_link = table->next_open;
    if (table->next_open != NULL) {
        table->next_open->open_link = table->open_link;
    }
    fetch_add_relaxed(COUNT, &table->domain->tables, UINT64_MAX);
    registry_unlock();
}

haft_table *first_open_table(void)
{
    return open_tables;
}

/*
 * Closing a table.
 *
 * In the child of a fork a table of its parent's only gives its memory back: its other threads may
 * have been anywhere, so nothing is waited for, looked at or called.
 *
 * Edges in this file.
 *   OWN     no other thread uses the table
 */
#include "concurrent/clock/domain.h"
#include "concurrent/extra/drain.h"
#include "concurrent/extra/implicit.h"
#include "concurrent/table/table.h"
#include "lib/local/local.h"
#include "lib/slots/leaks.h"
#include "lib/slots/object.h"
#include <haft/share.h>

/* A table that came from a local one is handed back, and closed as a local table. */
static haft_status close_shared(haft_table *table)
{
    haft_local *local;
    const haft_status status = haft_unshare(table, &local);

    if (status == HAFT_OK) {
        haft_local_close(local);
    }
    return status;
}

/* Stopped: its slots, and itself. */
static void end_memory(haft_table *table)
{
    slots_unpoison_all(&table->slots, load_relaxed(OWN, &table->fresh));
    slots_close(&table->slots);
    table_free(table);
}

static haft_status close_parents(haft_table *table)
{
    haft_status status = domain_check_moment(table->domain);

    status = status == HAFT_OK && table_has_attached(table) ? HAFT_IN_USE : status;
    status = status == HAFT_OK ? implicit_close(table) : status;
    if (status == HAFT_OK) {
        local_free(table->legacy.local);
        table_stop(table);
        end_memory(table);
    }
    return status;
}

haft_status haft_table_close(haft_table *table)
{
    if (domain_check_process(table->domain) != HAFT_OK) {
        return close_parents(table);
    }
    if (table->legacy.local != NULL) {
        return close_shared(table);
    }
    const haft_status status = drain_table(table);

    if (status != HAFT_OK) {
        return status;
    }
    leaks_report(&table->slots, table->name, load_relaxed(OWN, &table->fresh));
    table_stop(table);
    end_memory(table);
    return HAFT_OK;
}

/*
 * Closing a table.
 *
 * Edges in this file.
 *   OWN     no other thread uses the table
 */
#include "concurrent/extra/drain.h"
#include "concurrent/table/table.h"
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

haft_status haft_table_close(haft_table *table)
{
    if (table->legacy.local != NULL) {
        return close_shared(table);
    }
    const haft_status status = drain_table(table);

    if (status != HAFT_OK) {
        return status;
    }
    leaks_report(&table->slots, table->name, load_relaxed(OWN, &table->fresh));
    table_stop(table);
    slots_unpoison_all(&table->slots, load_relaxed(OWN, &table->fresh));
    slots_close(&table->slots);
    table_free(table);
    return HAFT_OK;
}

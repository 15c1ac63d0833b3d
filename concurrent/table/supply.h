/*
 * concurrent/table/supply.h - the search for a slot.
 */
#ifndef HAFT_CONCURRENT_SUPPLY_H
#define HAFT_CONCURRENT_SUPPLY_H

#include "concurrent/table/state.h"
#include <stddef.h>

/* Slots in the filling batch. */
struct supply {
    uint32_t count;
    bool is_new; /* the search filled the batch */
};

/*
 * Up to `most` slots in the filling batch, at least one, for the caller to use.  HAFT_OK, or why
 * there are none.  The worker's thread; lock-free, except callbacks.
 */
haft_status supply_find(haft_worker *worker, uint64_t most, struct supply *supply);

/*
 * The slots of a supply are in use and counted: on_fill, if the batch was filled for them and it is
 * time.  Last in a call: on_fill may use the worker.
 */
static inline void supply_used(haft_worker *worker, const struct supply *supply)
{
    haft_table *table = worker->table;

    if (supply->is_new && table->suppliers.look_at_fill != NULL) {
        table->suppliers.look_at_fill(table);
    }
}

/* No slot: ask other workers and the clock to release theirs.  HAFT_BUSY, or `fresh`. */
haft_status supply_shortage(haft_worker *worker, haft_status fresh);

#endif /* HAFT_CONCURRENT_SUPPLY_H */

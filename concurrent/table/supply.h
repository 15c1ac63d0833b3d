/*
 * concurrent/table/supply.h - the search for a slot.
 */
#ifndef HAFT_CONCURRENT_SUPPLY_H
#define HAFT_CONCURRENT_SUPPLY_H

#include "concurrent/table/reclaim.h"

/* A search, and what the suppliers have to say besides slots. */
struct search {
    /* What is to be done outside the door, before the search starts over; NULL: nothing. */
    void (*outside)(haft_worker *worker, struct search *search);
    struct batch *due;        /* taken out, to be taken back by that */
    haft_status status;       /* why there are no fresh slots */
    bool has_begun;           /* what follows is set */
    struct reclaim_call call; /* the batches that are due for it */
};

/* Slots in the filling batch. */
struct supply {
    uint32_t count;
    bool is_new; /* the search filled the batch */
};

/*
 * Up to `most` slots in the filling batch, at least one, for the caller to use; counted at the door
 * of an exact table.  HAFT_OK, or why there are none.  The worker's thread; lock-free, except
 * callbacks.
 */
haft_status supply_find(haft_worker *worker, uint64_t most, struct supply *supply);

/* Objects have come, and are counted, of which the first was found by that search. */
static inline void supply_used(haft_worker *worker, const struct supply *supply)
{
    haft_table *table = worker->table;

    if (supply->is_new && table->suppliers.filled != NULL) {
        table->suppliers.filled(table);
    }
}

#endif /* HAFT_CONCURRENT_SUPPLY_H */

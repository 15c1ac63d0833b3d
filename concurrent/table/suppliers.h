/*
 * concurrent/table/suppliers.h - what a search asks for slots.
 */
#ifndef HAFT_CONCURRENT_SUPPLIERS_H
#define HAFT_CONCURRENT_SUPPLIERS_H

#include "concurrent/table/reclaim.h"

/* A search, and what its suppliers answer besides slots. */
struct search {
    struct batch *due;  /* taken out, to be taken back before the next round; NULL: none */
    haft_status status; /* why there are no fresh slots */
    bool has_begun;     /* a supplier has asked for due batches */
    unsigned unpinned;  /* batches of unpinned slots taken out */
    uint64_t done;      /* then: the highest ticket done when a supplier first asked */
};

/* The table's suppliers, by its options.  Before any worker uses it. */
void suppliers_choose(haft_table *table);

#endif /* HAFT_CONCURRENT_SUPPLIERS_H */

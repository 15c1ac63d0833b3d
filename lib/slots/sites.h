/*
 * lib/slots/sites.h - allocation sites: where each slot was last allocated and freed: see
 * haft/diagnose.h.
 *
 * A record is written by the thread that holds the slot: on its way in before its id is visible, on
 * its way out after its life has ended and before the slot is retired; and cleared where the
 * slot's next generation is not the one after that life: so the record of a slot that is in no life
 * is of the generation before the one in its word.  A record is for people to read.
 *
 * Edges in this file.
 *   HINT   a site that is read too early or too late makes a line of text say less
 */
#ifndef HAFT_LIB_SITES_H
#define HAFT_LIB_SITES_H

#include "lib/base/compiler.h"
#include "lib/base/reservation.h"
#include <haft/diagnose.h>

struct site {
    atomic_u64 born; /* an address; 0: not known */
    atomic_u64 died;
};

struct sites {
    struct reservation memory;
    struct site *records; /* one a slot; NULL: the table keeps none */
};

/* Records for `slots` slots, in given memory if it is not NULL.  HAFT_OK or HAFT_NO_MEMORY. */
haft_status sites_open(struct sites *sites, uint64_t slots, struct given *given,
                       const haft_allocator *heap);
void sites_close(struct sites *sites, const haft_allocator *heap);

/* Make the records of the slots below `end` writable, if there are any.  Any threads. */
haft_status sites_commit(struct sites *sites, uint64_t end);

/* Have the system find memory for those from `first` on; they are writable. */
haft_status sites_populate(const struct sites *sites, uint64_t first, uint64_t end);

/*
 * Nothing is known of the slots from `first` on, below `end`, any more: they go on at another
 * generation than the one after the life recorded.  They are the calling thread's.
 */
void sites_forget(const struct sites *sites, uint64_t first, uint64_t end);

static inline void sites_note_birth(const struct sites *sites, uint64_t index, const void *caller)
{
    if (sites->records != NULL) {
        store_relaxed(HINT, &sites->records[index].born, (uint64_t)(uintptr_t)caller);
    }
}

static inline void sites_note_death(const struct sites *sites, uint64_t index, const void *caller)
{
    if (sites->records != NULL) {
        store_relaxed(HINT, &sites->records[index].died, (uint64_t)(uintptr_t)caller);
    }
}

#endif /* HAFT_LIB_SITES_H */

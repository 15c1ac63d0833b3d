/*
 * lib/slots/places.h - where each slot was last allocated and freed: see haft/diagnose.h.
 *
 * A record is written by the thread that holds the slot: on its way in before its id is visible, on
 * its way out after its life has ended and before the slot is handed on.  People read it.
 *
 * Edges in this file.
 *   HINT   a place that is read too early or too late makes a line of text say less
 */
#ifndef HAFT_LIB_PLACES_H
#define HAFT_LIB_PLACES_H

#include "lib/base/reservation.h"
#include <haft/diagnose.h>

/* Where the public function that says this was called. */
#define CALLER __builtin_return_address(0)

struct place {
    atomic_u64 born; /* an address; 0: not known */
    atomic_u64 died;
};

struct places {
    struct reservation memory;
    struct place *records; /* one a slot; NULL: the table keeps none */
    haft_on_leak *on_leak; /* NULL: lines on stderr */
    void *leak_arg;
};

/* Records for `slots` slots.  HAFT_OK or HAFT_NO_MEMORY. */
haft_status places_open(struct places *places, uint64_t slots);
void places_close(struct places *places);

/* Make the records of the slots below `end` writable, if there are any.  Any threads. */
haft_status places_commit(struct places *places, uint64_t end);

static inline void places_note_birth(const struct places *places, uint64_t index,
                                     const void *caller)
{
    if (places->records != NULL) {
        store_relaxed(HINT, &places->records[index].born, (uint64_t)(uintptr_t)caller);
    }
}

static inline void places_note_death(const struct places *places, uint64_t index,
                                     const void *caller)
{
    if (places->records != NULL) {
        store_relaxed(HINT, &places->records[index].died, (uint64_t)(uintptr_t)caller);
    }
}

#endif /* HAFT_LIB_PLACES_H */

/*
 * stress/torture/ledger.h - what the program itself knows about each slot of a table.
 *
 * A thread that reserves a slot stamps its place with the id, by an exchange that must find no
 * stamp; the thread that frees the object takes the stamp away while no grace period can end.  So a
 * slot that is handed out twice is found at once.  Where ids repeat, the ledger knows how many
 * lives a slot has had.  All words are relaxed and hold all there is to know in one word: they
 * order nothing that ThreadSanitizer judges.
 */
#ifndef HAFT_STRESS_TORTURE_LEDGER_H
#define HAFT_STRESS_TORTURE_LEDGER_H

#include "stress/support.h"

struct play;

struct place {
    shared_u64 tenant; /* the id that was reserved here last; 0: freed */
    shared_u64 intent; /* an id that some thread frees outside sections: it takes the stamp late */
    shared_u64 issued; /* the generation that was issued last */
    shared_u64 board;  /* the id, for others to find; 0: none */
    shared_u64 freed;  /* the object freed last, see freed_note() */
    shared_u64 freed_count;  /* frees in the table until then, noted in the same way */
    shared_u64 met;          /* 1: the object was freed while it was held */
    shared_u64 lives;        /* that were ever reserved here; with WRAPS */
    shared_u64 recorded;     /* an id whose creation is recorded, and not applied yet */
    shared_u64 is_inherited; /* 1: free in a local table that was shared, and not used since */
    uint64_t is_kept;        /* never freed before the end: every scan must visit it */
};

/* A table with its ledger. */
struct subject {
    struct play *play;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    uint64_t capacity;
    uint64_t slots; /* that there can be, from index 0 */
    uint64_t kept;
    struct place *places;
    shared_u64 live;      /* no fewer are live: counted up after, down before */
    shared_u64 inserted;  /* published */
    shared_u64 freed;     /* by winners */
    shared_u64 reclaimed; /* calls of on_reclaim */
};

/* An id that was just reserved: its slot must have no owner, and its life a new one. */
struct place *ledger_take(const struct play *play, struct subject *subject, haft_id id);

/* The thread that frees the object may take its stamp away late. */
void ledger_intend(struct subject *subject, haft_id id);

/* The object was just freed by the caller, or its reservation is about to be given up. */
void ledger_give(const struct play *play, struct subject *subject, haft_id id, bool in_section);

/* Notes that its object was freed, for ledger_age(). */
void ledger_note_freed(const struct play *play, struct subject *subject, haft_id id);

/* True if the object is known to be freed: then how many grace periods and frees ago. */
bool ledger_age(const struct play *play, struct subject *subject, haft_id id, uint64_t *periods,
                uint64_t *frees);

static inline struct place *place_of(const struct subject *subject, haft_id id)
{
    return &subject->places[haft_id_index(subject->layout, id)];
}

/* An id that was on the board a moment ago, or HAFT_NIL. */
haft_id ledger_pick(struct subject *subject, struct chance *chance);

#endif /* HAFT_STRESS_TORTURE_LEDGER_H */

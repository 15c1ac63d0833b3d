/*
 * kit/local/sides/side.h - the sides of a table: a list that its struct begins, and their entries.
 *
 * entry.word, beside slot.word of lib/slots/word.h:
 *
 *   0              no value
 *   g[RESERVED]    the value of that life is being set; in a local table, on_end runs for one
 *   g[other]       in a local table, the value of that life is due: on_end is to run, and then for
 *                  the entry of that index; NONE_DUE behind the last
 *   id             there is a value for it
 *   0[RESERVED]    entry 0, for ever
 *
 * Local tables go from each of the others to each.  Shared ones:
 *
 *          0, id of a former life, g[RESERVED] of a former life -> g[RESERVED]
 *                                             with CAS, by one thread in this life
 *          g[RESERVED] -> id                  by that thread                          (SIDE)
 *
 * g[RESERVED] of a former life was left by a thread that ended in the middle.
 */
#ifndef HAFT_LIB_SIDE_H
#define HAFT_LIB_SIDE_H

#include "lib/base/reservation.h"
#include "lib/slots/slots.h"
#include <haft/kit/side.h>

#define NONE_DUE MARK_END

struct haft_side {
    haft_entries entries;
    const struct slots *slots; /* the table's */
    uint64_t number;           /* no other side of a local table ever has it; of a shared one 0 */
    bool is_shared;            /* the table is */
    atomic_u64 used;           /* entries that are not below were never set */
    struct reservation memory;
    size_t value_size;
    haft_side_end *on_end;
    void *end_arg;
    bool is_ending;                 /* an on_end runs */
    uint64_t due;                   /* the entry whose on_end runs next, or NONE_DUE */
    void (*leave)(haft_side *side); /* out of the list */
    atomic_u64 *list;               /* where the address of the first one is */
    haft_side *next;
};

/* A side in no list, for haft_side_open() and its kin: `ids_repeat` if the table has wrap. */
haft_status side_open(const struct slots *slots, const haft_side_options *options, size_t size,
                      bool is_shared, bool ids_repeat, haft_side **side);

/* The list of a table's sides; NULL: there is none.  Of a shared table, under its lock. */
haft_side *sides_first(const atomic_u64 *list);
void sides_add(atomic_u64 *list, haft_side *side);
void sides_remove(haft_side *side);

/* All ids are issued again: each value of a local table's sides ends. */
void sides_forget_all(const atomic_u64 *list);

/* The same where sides_become() follows: each value ends whose side has on_end. */
void sides_end_all(const atomic_u64 *list);

#endif /* HAFT_LIB_SIDE_H */

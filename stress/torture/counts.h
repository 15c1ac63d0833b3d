/*
 * stress/torture/counts.h - a counted table that all threads of a play use beside its other tables.
 */
#ifndef HAFT_STRESS_TORTURE_COUNTS_H
#define HAFT_STRESS_TORTURE_COUNTS_H

#include "stress/support.h"
#include <haft/counted.h>

#define COUNTED_IDS 16u /* that live at a time */

struct play;
struct actor;

/* Objects that live or did: each place of the board has the id of one, freed by one thread. */
struct counts {
    haft_counted *table;
    uint64_t places;     /* of `holders` */
    shared_u64 *holders; /* by index: those that have not begun to let go */
    shared_u64 board[COUNTED_IDS];
    shared_u64 inserted, taken, destroyed;
};

void counts_open(struct play *play);

/* One step of any thread's: it may keep an object held until the next one. */
void counts_step(struct actor *actor);

/* The thread lets go. */
void counts_leave(struct actor *actor);

/* When no other thread runs: each object was ended once, and each slot is free. */
void counts_close(struct play *play);

#endif /* HAFT_STRESS_TORTURE_COUNTS_H */

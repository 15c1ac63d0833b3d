/*
 * stress/torture/desks.h - recorders of a frame's commands, for any thread that comes along.
 *
 * One writer, the applier, owns the command set.  It opens a recorder for each desk; any thread
 * that finds a desk open sits down, records for a while and leaves.  When no thread sits, the
 * applier closes the desks, applies the records and opens them anew.  Others free meanwhile what
 * the recorded destructions name.
 */
#ifndef HAFT_STRESS_TORTURE_DESKS_H
#define HAFT_STRESS_TORTURE_DESKS_H

#include <haft/kit/commands.h>
#include <stdatomic.h>

#define DESKS 4
#define MOST_CREATES 12 /* at one desk in a frame */
#define MOST_DESTROYS 32

struct desk {
    _Atomic(int) state; /* hands the rest over: acquire and release */
    haft_recorder *recorder;
    haft_id created[MOST_CREATES];
    haft_id destroyed[MOST_DESTROYS];
    unsigned room; /* creations it was opened for */
    unsigned creates;
    unsigned destroys;
    unsigned calls;
};

struct actor;

/* The applier's thread opens the set before anything else, and closes it when the play is over. */
void desks_open(struct actor *actor);
void desks_close(struct actor *actor);

#endif /* HAFT_STRESS_TORTURE_DESKS_H */

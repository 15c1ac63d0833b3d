/*
 * lib/base/pause.h - waiting for another thread where no event tells.
 *
 * Yielding alone would wait for ever: to a system with fixed priorities the waiting thread may be
 * the more urgent one, and the other never runs.  So after some turns it sleeps.
 */
#ifndef HAFT_LIB_PAUSE_H
#define HAFT_LIB_PAUSE_H

#include <stdint.h>

#define PAUSE_YIELDS 64 /* turns before the first sleep */

/* Pause in turn `turn` of a wait, from 0 on: yield, from PAUSE_YIELDS on sleep 50 us to 1 ms. */
void pause_in_turn(uint64_t turn);

#endif /* HAFT_LIB_PAUSE_H */

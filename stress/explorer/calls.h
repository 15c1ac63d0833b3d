/*
 * stress/explorer/calls.h - how many atomic operations a call of the library makes, at most.
 *
 * In a build with -finstrument-functions (explorer_counted) the compiler says where each function
 * begins and ends.  A call has all operations of its thread in between: those of functions that it
 * calls, of callbacks too, and of each round in which it waits.
 */
#ifndef HAFT_STRESS_CALLS_H
#define HAFT_STRESS_CALLS_H

#include <stdbool.h>

/* From now on no call has been made. */
void calls_clear(void);

/* The calling thread makes an atomic operation; a read-modify-write? */
void calls_note(bool modifies);

/*
 * As a member of a JSON object: for each function that made any, by its distance from the
 * program's start, the most operations and the most read-modify-writes of one call.  Nothing in a
 * build that does not count.
 */
void calls_print(void);

#endif /* HAFT_STRESS_CALLS_H */

/* stress/combinations/calls.h - the calls of a plan, carried out and checked. */
#ifndef HAFT_COMBINATIONS_CALLS_H
#define HAFT_COMBINATIONS_CALLS_H

#include "stress/combinations/model.h"

/*
 * Carry a step out for a thread, unless the state does not allow it.  `worker` is the one that the
 * calls may use: the thread's own, or a callback's; NULL: none.
 */
void call_step(struct thread *thread, haft_worker *worker, const struct step *step);

#define TABLE_NAME "played"

/* Callbacks of the table; `arg` is the play. */
void reclaim_callback(void *object, haft_id id, haft_worker *worker, void *arg);

/* What on_reclaim of either table does: it checks that no callback is running, and carries out the
 * plan's next step for it. */
void call_in_reclaim(haft_worker *worker);

#endif /* HAFT_COMBINATIONS_CALLS_H */

/* stress/combinations/guests.h - threads that come and go, and the workers that they leave. */
#ifndef HAFT_COMBINATIONS_GUESTS_H
#define HAFT_COMBINATIONS_GUESTS_H

#include "stress/combinations/model.h"

/* A thread comes, opens an implicit worker, and goes: at once (GUEST), leaving the worker open
 * (GUEST_LATE), or while the table closes (GUEST_LEAVING). */
void have_guest(struct thread *thread, const struct step *step);

/* Closes the worker that was left open, if one was. */
void close_left(void);

#endif /* HAFT_COMBINATIONS_GUESTS_H */

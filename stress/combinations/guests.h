/* stress/combinations/guests.h - threads that come and go. */
#ifndef HAFT_COMBINATIONS_GUESTS_H
#define HAFT_COMBINATIONS_GUESTS_H

#include "stress/combinations/model.h"

/* A thread comes, opens a worker and closes it, and goes: at once (GUEST), or while the table
 * closes (GUEST_LEAVING). */
void have_guest(struct thread *thread, const struct step *step);

#endif /* HAFT_COMBINATIONS_GUESTS_H */

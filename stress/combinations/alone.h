/* stress/combinations/alone.h - calls that one thread makes while all others stand still. */
#ifndef HAFT_COMBINATIONS_ALONE_H
#define HAFT_COMBINATIONS_ALONE_H

#include "stress/combinations/model.h"

/* Makes a call of the kind ALONE. */
void call_alone(struct thread *thread, const struct step *step);

#endif /* HAFT_COMBINATIONS_ALONE_H */

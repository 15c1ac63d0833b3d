/* stress/combinations/forks.h - a play that forks. */
#ifndef HAFT_COMBINATIONS_FORKS_H
#define HAFT_COMBINATIONS_FORKS_H

#include "stress/combinations/model.h"

/* Once in a play: the child looks at what it has, and the parent plays on. */
void try_fork(struct thread *thread);

#endif /* HAFT_COMBINATIONS_FORKS_H */

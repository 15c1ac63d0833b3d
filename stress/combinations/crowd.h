/* stress/combinations/crowd.h - workers without threads. */
#ifndef HAFT_COMBINATIONS_CROWD_H
#define HAFT_COMBINATIONS_CROWD_H

#include "stress/combinations/model.h"

/* Opens workers until they hold back all that they may or the crowd is large; a
 * crowd that is there, it closes. */
void toggle_crowd(struct thread *thread);
void close_crowd(struct thread *thread);

#endif /* HAFT_COMBINATIONS_CROWD_H */

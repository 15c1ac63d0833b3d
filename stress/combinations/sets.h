/* stress/combinations/sets.h - the table's command set. */
#ifndef HAFT_COMBINATIONS_SETS_H
#define HAFT_COMBINATIONS_SETS_H

#include "stress/combinations/model.h"

/* While all others stand still: its worker, if it is the thread's. */
haft_worker *worker_of_set(const struct thread *thread);

/* The thread ends: so does the set, if it is the thread's. */
void end_set(struct thread *thread);

/* All threads stand still: objects that a thread and the set were about to end are ended. */
void settle_doomed(void);

/* For the thread alone, if it may use it; then the set is the thread's. */
bool take_set(const struct thread *thread);
bool applies_set(const struct thread *thread);
void give_set_back(void);

#endif /* HAFT_COMBINATIONS_SETS_H */

/* stress/combinations/gathering.h - threads that stand still, while one of them makes a call. */
#ifndef HAFT_COMBINATIONS_GATHERING_H
#define HAFT_COMBINATIONS_GATHERING_H

#include "stress/combinations/model.h"

/* A play begins. */
void begin_gathering(void);

/* Each thread comes here for a step of the kind ALONE, the plan's `round`th, from 1: the first one
 * makes `call` once all others stand still. */
typedef void call_of_one(struct thread *thread, const struct step *step);
void gather(struct thread *thread, uint32_t round, const struct step *step, call_of_one *call);

/* `call` by each of the plan's threads, one after the other; or by one of them. */
void by_each_thread(void (*call)(struct thread *thread));
void by_thread(uint32_t number, void (*call)(struct thread *thread));

#endif /* HAFT_COMBINATIONS_GATHERING_H */

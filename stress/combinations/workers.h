/* stress/combinations/workers.h - workers of the plan's threads. */
#ifndef HAFT_COMBINATIONS_WORKERS_H
#define HAFT_COMBINATIONS_WORKERS_H

#include "stress/combinations/model.h"

/* Whether the call has done what it was asked; else there was no memory for it, as may be. */
bool is_done(haft_status status, const char *call);

void begin_worker(struct thread *thread);
void end_worker(struct thread *thread);

/* A worker of the seat has been opened; is about to be closed, and has been; all have ended. */
/* opened: the number of the lift that the worker is of, for the other two. */
uint32_t note_worker_opened(struct seat *seat);
void note_worker_closing(struct seat *seat, uint32_t lift);
void note_worker_closed(struct seat *seat, uint32_t lift);
void forget_workers(struct seat *seat);

#endif /* HAFT_COMBINATIONS_WORKERS_H */

/* stress/combinations/progress.h - free slots, and what waits. */
#ifndef HAFT_COMBINATIONS_PROGRESS_H
#define HAFT_COMBINATIONS_PROGRESS_H

#include "stress/combinations/model.h"

/* A grace period passes, as far as the domain lets it. */
void pass_grace_period(struct thread *thread);

/* All threads stand still: what the statistics call free can be had by one of them. */
void drain(const struct step *step);

/* All threads stand still: HAFT_BUSY ends, by what drives the clock. */
void check_progress(struct thread *thread, const struct step *step);

/* Nothing is live or reserved any more: the table must hold its capacity. */
void check_capacity(void);

#endif /* HAFT_COMBINATIONS_PROGRESS_H */

/* stress/explorer/progress.h - how far the work is, on a terminal. */
#ifndef HAFT_STRESS_PROGRESS_H
#define HAFT_STRESS_PROGRESS_H

#include <stdint.h>

double seconds_now(void);

/* `done` of `all`, 0 if that is not known: printed now and then, on a terminal only. */
void progress(const char *what, uint64_t done, uint64_t all);
void progress_end(void);

#endif /* HAFT_STRESS_PROGRESS_H */

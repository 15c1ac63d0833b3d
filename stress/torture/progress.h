/*
 * stress/torture/progress.h - a bar on the terminal; nothing where there is none.
 */
#ifndef HAFT_STRESS_TORTURE_PROGRESS_H
#define HAFT_STRESS_TORTURE_PROGRESS_H

#include <stdint.h>

/* From now on, for that long. */
void progress_begin(uint64_t ns);

/* `what` is under way.  Only one thread calls it, as often as it likes. */
void progress_show(const char *what);

void progress_end(void);

#endif /* HAFT_STRESS_TORTURE_PROGRESS_H */

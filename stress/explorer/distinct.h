/* stress/explorer/distinct.h - how many schedules differ, by their fingerprints. */
#ifndef HAFT_STRESS_DISTINCT_H
#define HAFT_STRESS_DISTINCT_H

#include <stdbool.h>
#include <stdint.h>

void distinct_clear(void);

/* Whether this one was not seen since.  Ends the process if there is no memory. */
bool distinct_is_new(uint64_t fingerprint);

#endif /* HAFT_STRESS_DISTINCT_H */

/*
 * Included before everything else, it breaks the library: slots whose memory was given back begin
 * at the first generation again.  White-box: it takes the place of a function of lib/runs.h.
 */
#ifndef HAFT_STRESS_TORTURE_NO_FLOOR_H
#define HAFT_STRESS_TORTURE_NO_FLOOR_H

#define runs_set_floor runs_proper_set_floor
#include "lib/runs.h"
#undef runs_set_floor

static inline void runs_set_floor(const struct runs *runs, uint64_t run, uint64_t floor)
{
    (void)floor;
    runs_proper_set_floor(runs, run, 0);
}

#endif /* HAFT_STRESS_TORTURE_NO_FLOOR_H */

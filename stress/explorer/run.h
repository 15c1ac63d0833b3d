/* stress/explorer/run.h - a case under one schedule after the other. */
#ifndef HAFT_STRESS_RUN_H
#define HAFT_STRESS_RUN_H

#include "stress/explorer/cases/case.h"

struct run_options {
    uint64_t schedules;      /* 0: until there is none left */
    uint64_t longest;        /* if more: until one has met the race, up to this many */
    uint64_t first;          /* number of the first, for random ones */
    bool with_history;       /* the c11 memory */
    bool with_fresh_threads; /* in each schedule: what ends with a thread matters */
};

struct run_counts {
    uint64_t schedules;
    uint64_t distinct;  /* of them, by their decisions */
    uint64_t decisions; /* in all */
    uint64_t steps;     /* in all */
    uint64_t met;       /* schedules that met the race */
    double seconds;
    bool is_complete; /* exhaustive: there is no further schedule */
};

struct run_counts run_case(const struct explored_case *explored, const struct run_options *options);

#endif /* HAFT_STRESS_RUN_H */

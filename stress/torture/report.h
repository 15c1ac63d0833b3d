/*
 * stress/torture/report.h - what a run has done and met, for people or for programs.
 */
#ifndef HAFT_STRESS_TORTURE_REPORT_H
#define HAFT_STRESS_TORTURE_REPORT_H

#include "stress/torture/options.h"

struct result {
    uint64_t elapsed_ns;
    bool is_interrupted; /* before its time was over */
    uint64_t plays[PROFILES];
    struct tally by_profile[PROFILES];
    struct tally sum;
    uint64_t stalls;
    unsigned not_met; /* profiles that were played and have not met their race */
};

/* Whether the profile has met its race: what else it did proves nothing. */
bool has_met(const struct result *result, size_t profile);

void report_begin(const struct options *options);
void report(const struct options *options, const struct result *result);

#endif /* HAFT_STRESS_TORTURE_REPORT_H */

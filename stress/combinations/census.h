/* stress/combinations/census.h - what a table and its domain say at a quiet moment. */
#ifndef HAFT_COMBINATIONS_CENSUS_H
#define HAFT_COMBINATIONS_CENSUS_H

#include "stress/combinations/model.h"

/* Each slot is in one place, and the counters agree; what registers name lives or does not: while
 * no call is under way. */
void check_census(void);
void check_registers(void);

/* After a wait or a tick, before which the domain said that. */
void check_grace(const haft_domain_stats *before);

#endif /* HAFT_COMBINATIONS_CENSUS_H */

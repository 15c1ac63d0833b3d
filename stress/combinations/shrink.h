/* stress/combinations/shrink.h - the smallest plan that still breaks the same rule. */
#ifndef HAFT_COMBINATIONS_SHRINK_H
#define HAFT_COMBINATIONS_SHRINK_H

#include "stress/combinations/plan.h"

/* Whether a plan breaks the rule. */
typedef bool breaks(const struct plan *plan);

/*
 * Leaves out steps, threads and options as long as the plan breaks the rule, for `seconds` at most:
 * delta debugging (A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing
 * input", IEEE Transactions on Software Engineering 28, 2002).
 */
void shrink(struct plan *plan, breaks *still_breaks, double seconds);

#endif /* HAFT_COMBINATIONS_SHRINK_H */

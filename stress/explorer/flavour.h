/*
 * stress/explorer/flavour.h - liburcu as the scheduler has it: what RCU promises and no more.
 *
 * A grace period waits for the read sections that were open when it began.  So of a section and a
 * grace period, either what was done in the section is visible when the grace period has ended,
 * or what was done before the grace period began is visible in the section.
 */
#ifndef HAFT_STRESS_FLAVOUR_H
#define HAFT_STRESS_FLAVOUR_H

struct rcu_flavor_struct;

/* A flavour as memb: sections from lock to unlock. */
extern const struct rcu_flavor_struct model_flavour;

/* Before each schedule. */
void model_flavour_reset(void);

#endif /* HAFT_STRESS_FLAVOUR_H */

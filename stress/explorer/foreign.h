/*
 * stress/explorer/foreign.h - foreign clocks as the scheduler has them: what haft/clock.h asks of
 * one and no more.
 *
 * Of a section and a grace period, either the section's steps are visible when wait() has returned,
 * or the steps before the call of wait() are visible in the section.  A clock may choose where the
 * two meet, so there is one for each end:
 *
 *   early  sections that begin after the call of wait() have the second, and are not waited for
 *   late   all sections that begin before wait() returns have the first, and are waited for: until
 *          then a section sees nothing of what came before the call
 */
#ifndef HAFT_STRESS_FOREIGN_H
#define HAFT_STRESS_FOREIGN_H

#include <haft/clock.h>

extern const haft_foreign_clock model_sections; /* early; sections from begin to end, as memb */
extern const haft_foreign_clock model_online;   /* early; threads are online or not, as qsbr */
extern const haft_foreign_clock model_late;     /* late; sections from begin to end */

/* Whether wait() of model_late has waited for a section that began after the call. */
bool model_has_been_late(void);

/* Of the calling thread: for a model_online that is to be asked, and so lets workers bring threads
 * online.  Cases do without it, and their threads without registration. */
bool model_is_registered(void *ctx);

/* Before each schedule. */
void model_foreign_reset(void);

#endif /* HAFT_STRESS_FOREIGN_H */

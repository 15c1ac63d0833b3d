/*
 * examples/ck/clock.h - a foreign clock for haft that is not liburcu's: ck_epoch of Concurrency Kit
 * (http://concurrencykit.org, Debian's libck-dev).  The program has one epoch.
 */
#ifndef EXAMPLES_CK_CLOCK_H
#define EXAMPLES_CK_CLOCK_H

#include <haft/clock.h>

extern const haft_foreign_clock ck_clock;

#endif /* EXAMPLES_CK_CLOCK_H */

/*
 * stress/torture/interrupt.h - Ctrl-C ends a run early; what it has met by then is still reported.
 */
#ifndef HAFT_STRESS_TORTURE_INTERRUPT_H
#define HAFT_STRESS_TORTURE_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT is only noted.  A second one ends the process at once. */
void interrupt_expect(void);

bool is_interrupted(void);

#endif /* HAFT_STRESS_TORTURE_INTERRUPT_H */

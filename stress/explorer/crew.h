/* stress/explorer/crew.h - the threads of schedules. */
#ifndef HAFT_STRESS_CREW_H
#define HAFT_STRESS_CREW_H

#include <stdbool.h>

/*
 * Before each schedule.  If threads may be reused, one that has left a schedule serves the later
 * ones: creating a thread takes longer than most schedules, above all under ThreadSanitizer.  What
 * ends with a thread, its destructors and thread-local variables, then does not.
 */
void crew_reset(bool reuse);

#endif /* HAFT_STRESS_CREW_H */

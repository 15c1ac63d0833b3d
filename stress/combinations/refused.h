/* stress/combinations/refused.h - calls that are refused, and change nothing. */
#ifndef HAFT_COMBINATIONS_REFUSED_H
#define HAFT_COMBINATIONS_REFUSED_H

#include "stress/combinations/model.h"

/* The statistics, without the clock's where it has a thread: a refused call leaves them as they
 * were. */
haft_table_stats table_state(void);

/* Checks that the call is refused in the thread's section or inner job, and changes nothing. */
void refuse_in_section(haft_status (*call)(void), haft_status expected);

#endif /* HAFT_COMBINATIONS_REFUSED_H */

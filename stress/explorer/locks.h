/* stress/explorer/locks.h - mutexes, conditions and semaphores under the scheduler. */
#ifndef HAFT_STRESS_LOCKS_H
#define HAFT_STRESS_LOCKS_H

/* Before each schedule. */
void locks_reset(void);

#endif /* HAFT_STRESS_LOCKS_H */

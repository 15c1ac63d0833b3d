/* stress/explorer/locks.h - mutexes, conditions and semaphores under the scheduler, and
 * handlers of forks. */
#ifndef HAFT_STRESS_LOCKS_H
#define HAFT_STRESS_LOCKS_H

/* Before each schedule. */
void locks_reset(void);

/* What a fork would call: before it, and in the child. */
void locks_before_fork(void);
void locks_in_child(void);

#endif /* HAFT_STRESS_LOCKS_H */

/* stress/combinations/threads.h - a thread's state: its clock, its sections, and where it waits. */
#ifndef HAFT_COMBINATIONS_THREADS_H
#define HAFT_COMBINATIONS_THREADS_H

#include "stress/combinations/model.h"

bool in_callback(const struct thread *thread);
bool is_qsbr(void);
bool is_ck(void);
bool has_sections(void); /* the clock: each with a begin and an end */
bool is_clock(enum plan_clock clock);

/* Whether no call may wait here: in a callback; where waits are refused; and as long as the worker
 * of a thread that has ended holds the workers clock up. */
bool must_not_wait(const struct thread *thread);

/* Whether the calling thread may resolve. */
bool may_resolve(const struct thread *thread);

/* Whether calls that wait answer HAFT_IN_SECTION: in a read section or an inner job, with clocks
 * that know. */
bool waits_are_refused(const struct thread *thread);

/* The thread's pointers are void from now on, unless a section or an inner job keeps them. */
void expire_pointers(struct thread *thread);

/* The thread has no pointer any more, and is in no section or job. */
void end_sections(struct thread *thread);

/* Its seat goes offline, or online, where the clock has these states. */
void go_offline(struct thread *thread);
void go_online(struct thread *thread);

/* Whether the thread may write to an object that lives. */
bool may_stamp_zeros(const struct thread *thread);

#endif /* HAFT_COMBINATIONS_THREADS_H */

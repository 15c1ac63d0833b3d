/* concurrent/clock/thread.h - numbers of threads. */
#ifndef HAFT_CONCURRENT_THREAD_H
#define HAFT_CONCURRENT_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread's number, which no other thread ever has; not 0.  Wait-free. */
uint64_t thread_number(void);

/* The number that the system knows it by (gettid), asked once in a process.  Wait-free. */
uint64_t thread_system_number(void);

/*
 * threads_begin_child: called by the one thread of a fork's child.  thread_is_gone: whether the
 * number is that of a thread that the last fork has cut off.  Wait-free.
 */
void threads_begin_child(void);
bool thread_is_gone(uint64_t number);

#endif /* HAFT_CONCURRENT_THREAD_H */

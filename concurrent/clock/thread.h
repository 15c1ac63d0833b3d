/*
 * concurrent/clock/thread.h - numbers of threads.
 */
#ifndef HAFT_CONCURRENT_THREAD_H
#define HAFT_CONCURRENT_THREAD_H

#include <stdint.h>

/* The calling thread's number, which no other thread ever has; not 0.  Wait-free. */
uint64_t thread_number(void);

/* The number that the system knows it by (gettid), asked once in a process.  Wait-free. */
uint64_t thread_system_number(void);

#endif /* HAFT_CONCURRENT_THREAD_H */

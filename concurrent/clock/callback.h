/*
 * concurrent/clock/callback.h - whether the calling thread is inside a callback of the program.
 *
 * A callback may run while a job holds pointers, far above it on the stack.  So calls that wait,
 * announce a quiescent point or take a table apart return HAFT_IN_CALLBACK there, and no callback
 * runs within another.  All functions: any thread, wait-free.
 */
#ifndef HAFT_CONCURRENT_CALLBACK_H
#define HAFT_CONCURRENT_CALLBACK_H

#include <stdbool.h>
#include <stdint.h>

bool callback_is_running(void);

/* The number of the calling thread's callback: no other one of the thread has it; 0: none runs. */
uint64_t callback_number(void);

/* Frees without a worker: those inside callbacks are counted, for the thread. */
void callback_note_free(void);
uint64_t callback_frees(void);

/* Around each call of on_reclaim and on_stall; not within one another. */
void callback_begin(void);
void callback_end(void);

#endif /* HAFT_CONCURRENT_CALLBACK_H */

/*
 * stress/explorer/watch.h - memory that the library has released, and signals.  Compiled without
 * ThreadSanitizer: neither orders anything.
 */
#ifndef HAFT_STRESS_WATCH_H
#define HAFT_STRESS_WATCH_H

#include <stdbool.h>
#include <stddef.h>

/* The library's operations may not touch that memory any more; until all is forgotten. */
void watch_release(const void *memory, size_t size);
bool watch_is_released(const void *address);
void watch_forget(void);

/*
 * The calling thread handles a signal (NULL: no more), once: before its next step when another
 * thread has raised it.  Returns whether the handler before waits still.
 */
bool signal_handle(void (*handler)(void));
void signal_raise(void);

/* Whether the calling thread has a handler that has not run; the handler, if it is to run now. */
bool signal_is_awaited(void);
void (*signal_take(void))(void);

#endif /* HAFT_STRESS_WATCH_H */

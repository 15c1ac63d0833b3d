/*
 * failure.h - exit codes, and how replay's functions report what they cannot do.
 */
#ifndef REPLAY_FAILURE_H
#define REPLAY_FAILURE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum replay_exit {
    EXIT_RIGHT = 0,   /* every answer was right */
    EXIT_WRONG = 1,   /* haft gave a wrong answer */
    EXIT_REFUSED = 2, /* the command line or the trace is not acceptable */
    EXIT_SYSTEM = 3   /* the system gave no memory or no threads, or took no output */
};

/* Zeroed: nothing has failed. */
struct failure {
    enum replay_exit code;
    char *message; /* a line for people, or NULL */
};

/* Sets `failure`, which must be zeroed.  Always false. */
bool fail(struct failure *failure, enum replay_exit code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void failure_clear(struct failure *failure);

/* Prints "replay: message" and exits with EXIT_SYSTEM; for any thread. */
_Noreturn void replay_give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- memory: these give up where there is none; free() takes the result --- */

/* Zeroed. */
void *replay_allocate(size_t count, size_t size);
void *replay_reallocate(void *memory, size_t count, size_t size);
char *replay_copy_text(const char *text);
char *replay_text_of(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif /* REPLAY_FAILURE_H */

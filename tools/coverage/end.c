/*
 * tools/coverage/end.c - what was taken is written down however a process ends.
 *
 * clang's runtime writes when a process exits; children of fork() that end by _exit(), and
 * processes that abort(), would leave nothing.  This library, loaded before the C library, has
 * them exit first.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool aborts;
static bool exits;

int __cxa_atexit(void (*function)(void *), void *arg, void *library);

/* Of all that is done at exit the last. */
static void end(void *arg)
{
    (void)arg;
    if (aborts) {
        raise(SIGABRT);
        signal(SIGABRT, SIG_DFL);
        raise(SIGABRT);
    }
}

/* What belongs to a library is done with that library's end, so this belongs to none. */
__attribute__((constructor)) static void begin(void)
{
    __cxa_atexit(end, NULL, NULL);
}

void abort(void)
{
    aborts = true;
    exit(EXIT_FAILURE);
}

void _exit(int status)
{
    if (!exits) {
        exits = true;
        exit(status);
    }
    for (;;) {
        syscall(SYS_exit_group, status);
    }
}

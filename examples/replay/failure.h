/*
 * failure.h - exit codes, and how replay's functions report what they cannot do.
 */
#ifndef REPLAY_FAILURE_H
#define REPLAY_FAILURE_H

#include <glib.h>

enum replay_exit {
    EXIT_RIGHT = 0,   /* every answer was right */
    EXIT_WRONG = 1,   /* haft gave a wrong answer */
    EXIT_REFUSED = 2, /* the command line or the trace is not acceptable */
    EXIT_SYSTEM = 3   /* the system gave no memory or no threads */
};

/* The domain of replay's GErrors; their code is the exit code. */
#define REPLAY_FAILURE replay_failure_quark()
GQuark replay_failure_quark(void);

/* Prints "replay: message" and exits with EXIT_SYSTEM; for any thread. */
void replay_give_up(const char *format, ...) G_GNUC_PRINTF(1, 2) G_GNUC_NORETURN;

#endif /* REPLAY_FAILURE_H */

/*
 * failure.h - exit codes, and how level_load's functions report what they cannot do and what haft
 * did wrong.
 */
#ifndef LEVEL_LOAD_FAILURE_H
#define LEVEL_LOAD_FAILURE_H

#include <glib.h>
#include <stdbool.h>

enum level_exit {
    EXIT_RIGHT = 0,   /* every answer was right */
    EXIT_WRONG = 1,   /* haft gave a wrong answer */
    EXIT_REFUSED = 2, /* the command line or a file is not acceptable */
    EXIT_SYSTEM = 3   /* the system gave no memory, no threads, no room */
};

/* The domain of level_load's GErrors; their code is the exit code. */
#define LEVEL_FAILURE level_failure_quark()
GQuark level_failure_quark(void);

/* Sets `error`.  Always returns false. */
bool fail(GError **error, enum level_exit code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Prints "level_load: message" and exits with EXIT_SYSTEM; for any thread. */
void give_up(const char *format, ...) G_GNUC_PRINTF(1, 2) G_GNUC_NORETURN;

/* An answer of haft's: if it is not `right` it is counted, and the first ones are printed.  For
 * any thread.  Returns `right`. */
bool check(bool right, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* How many were not right. */
unsigned wrong_answers(void);

#endif /* LEVEL_LOAD_FAILURE_H */

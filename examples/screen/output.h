/*
 * output.h - the end of what a program prints: a full disk or a closed pipe is an error.
 */
#ifndef EXAMPLES_SCREEN_OUTPUT_H
#define EXAMPLES_SCREEN_OUTPUT_H

/*
 * Closes stdout.  Returns `code` if all that was printed has been written; if not, says so on
 * stderr and returns `failed`, or `code` if that is a failure already.
 */
int end_output(const char *program, int code, int failed);

/* Prints `help` and exits with 0, or with 1 if it could not be written. */
_Noreturn void print_help(const char *program, const char *help);

#endif /* EXAMPLES_SCREEN_OUTPUT_H */

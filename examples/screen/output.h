/*
 * output.h - the end of what a program prints: a full disk or a closed pipe is an error.
 */
#ifndef EXAMPLES_SCREEN_OUTPUT_H
#define EXAMPLES_SCREEN_OUTPUT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_LOST_OUTPUT = 3 }; /* of all programs that print */

/*
 * Closes stdout.  Returns `code` if all that was printed has been written; if not, says so on
 * stderr and returns `failed`, or `code` if that is a failure already.
 */
static inline int end_output(const char *program, int code, int failed)
{
    const int failed_before = ferror(stdout);

    errno = 0; /* the reason of an earlier failure is lost */
    if (fclose(stdout) == 0 && failed_before == 0) {
        return code;
    }
    fprintf(stderr, "%s: the output could not be written%s%s\n", program, errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    return code != 0 ? code : failed;
}

/* Prints `help` and exits with 0, or with EXIT_LOST_OUTPUT. */
_Noreturn static inline void print_help(const char *program, const char *help)
{
    fputs(help, stdout);
    exit(end_output(program, EXIT_SUCCESS, EXIT_LOST_OUTPUT));
}

#endif /* EXAMPLES_SCREEN_OUTPUT_H */

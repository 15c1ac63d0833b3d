#include "examples/screen/output.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An earlier write may have failed, and the error of that one is lost. */
int end_output(const char *program, int code, int failed)
{
    const int failed_before = ferror(stdout);

    errno = 0;
    if (fclose(stdout) == 0 && failed_before == 0) {
        return code;
    }
    fprintf(stderr, "%s: cannot write all of the output%s%s\n", program, errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    return code != 0 ? code : failed;
}

void print_help(const char *program, const char *help)
{
    fputs(help, stdout);
    exit(end_output(program, EXIT_SUCCESS, EXIT_FAILURE));
}

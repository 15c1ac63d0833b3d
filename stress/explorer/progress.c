/* A line on the terminal that is written again and again. */
#include "stress/explorer/progress.h"
#include "examples/screen/terminal.h"
#include <stdbool.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

#define SECONDS_BETWEEN 0.2
#define LOOKS_BETWEEN 256 /* schedules after which it looks at the time */

static double last;
static bool is_shown;

double seconds_now(void)
{
    struct timeval now;

    gettimeofday(&now, NULL); /* the library's own clock stands still: see locks.c */
    return (double)now.tv_sec + (double)now.tv_usec / 1e6;
}

void progress(const char *what, uint64_t done, uint64_t all)
{
    if (done % LOOKS_BETWEEN != 0 || !isatty(STDERR_FILENO)) {
        return;
    }
    const double now = seconds_now();

    if (now - last < SECONDS_BETWEEN) {
        return;
    }
    last = now;
    is_shown = true;
    char text[256];

    if (all != 0) {
        snprintf(text, sizeof text, "%s: %llu of %llu schedules", what, (unsigned long long)done,
                 (unsigned long long)all);
    } else {
        snprintf(text, sizeof text, "%s: schedule %llu", what, (unsigned long long)done);
    }
    terminal_line(all != 0 ? (double)done / (double)all : -1, text);
}

void progress_end(void)
{
    if (is_shown) {
        terminal_line_end();
        is_shown = false;
    }
}

/* A bar on the terminal; see progress.h. */
#include "stress/torture/progress.h"
#include "stress/torture/play.h"
#include <stdio.h>
#include <unistd.h>

#define WIDTH 30
#define REDRAW_NS UINT64_C(200000000)
#define NS_PER_S UINT64_C(1000000000)

static uint64_t began;
static uint64_t lasts;
static uint64_t drawn; /* when; 0: not on the screen */

void progress_begin(uint64_t ns)
{
    began = time_ns();
    lasts = ns;
}

void progress_show(const char *what)
{
    static const char hashes[] = "##############################";
    const uint64_t now = time_ns();
    const uint64_t elapsed = now - began < lasts ? now - began : lasts;

    if (now - drawn < REDRAW_NS || isatty(STDERR_FILENO) == 0) {
        return;
    }
    drawn = now;
    fprintf(stderr, "\r[%-*.*s] %llu of %llu s  %-10s", WIDTH, (int)(elapsed * WIDTH / lasts),
            hashes, (unsigned long long)(elapsed / NS_PER_S),
            (unsigned long long)(lasts / NS_PER_S), what);
    fflush(stderr);
}

void progress_end(void)
{
    if (drawn != 0) {
        fprintf(stderr, "\r\033[K");
        drawn = 0;
    }
}

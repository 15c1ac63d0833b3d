/* A bar on the terminal; see progress.h. */
#include "stress/torture/progress.h"
#include "examples/screen/terminal.h"
#include "stress/torture/play.h"
#include <stdio.h>
#include <unistd.h>

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
    const uint64_t now = time_ns();
    const uint64_t elapsed = now - began < lasts ? now - began : lasts;
    char text[128];

    if (now - drawn < REDRAW_NS || isatty(STDERR_FILENO) == 0) {
        return;
    }
    drawn = now;
    snprintf(text, sizeof text, "%llu of %llu s  %s", (unsigned long long)(elapsed / NS_PER_S),
             (unsigned long long)(lasts / NS_PER_S), what);
    terminal_line((double)elapsed / (double)lasts, text);
}

void progress_end(void)
{
    if (drawn != 0) {
        terminal_line_end();
        drawn = 0;
    }
}

#include "examples/screen/progress.h"
#include "examples/screen/terminal.h"
#include "examples/screen/text.h"
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define PATIENCE_NS UINT64_C(500000000) /* a run that ends sooner has no bar */
#define REDRAW_NS UINT64_C(100000000)

/* Only main's thread draws. */
static bool shown; /* on the screen now */
static uint64_t drawn_ns;

static void draw(const char *what, uint64_t done, uint64_t total, uint64_t elapsed_ns)
{
    const double part = total != 0 ? (double)done / (double)total : -1;
    char text[256];

    if (total == 0) {
        snprintf(text, sizeof text, "%s %s", grouped(done), what);
    } else if (done == 0) {
        snprintf(text, sizeof text, "%5.1f %%  0 of %s %s", 0.0, grouped(total), what);
    } else {
        snprintf(text, sizeof text, "%5.1f %%  %s of %s %s, %.0f s to go", part * 100,
                 grouped(done), grouped(total), what, (double)elapsed_ns / 1e9 * (1 - part) / part);
    }
    terminal_line(part, text);
}

void progress_show(const char *what, uint64_t done, uint64_t total, uint64_t elapsed_ns)
{
    if (elapsed_ns < PATIENCE_NS || (shown && elapsed_ns - drawn_ns < REDRAW_NS) ||
        isatty(STDERR_FILENO) == 0) {
        return;
    }
    draw(what, done, total, elapsed_ns);
    shown = true;
    drawn_ns = elapsed_ns;
}

void progress_end(void)
{
    if (shown) {
        terminal_line_end();
        shown = false;
    }
}

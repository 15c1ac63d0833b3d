#include "examples/screen/progress.h"
#include "examples/screen/text.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 30
#define PATIENCE_NS UINT64_C(500000000) /* a run that ends sooner has no bar */
#define REDRAW_NS UINT64_C(100000000)

/* Only main's thread draws. */
static bool shown; /* on the screen now */
static uint64_t drawn_ns;

static void draw(const char *what, uint64_t done, uint64_t total, uint64_t elapsed_ns)
{
    static const char hashes[] = "##############################";
    const double part = (double)done / (double)total;

    fprintf(stderr, "\r[%-*.*s] %5.1f %%  %s of %s %s", WIDTH, (int)(part * WIDTH), hashes,
            part * 100, grouped(done), grouped(total), what);
    if (done != 0) {
        fprintf(stderr, ", %.0f s to go", (double)elapsed_ns / 1e9 * (1 - part) / part);
    }
    fputs("\033[K", stderr);
}

void progress_show(const char *what, uint64_t done, uint64_t total, uint64_t elapsed_ns)
{
    if (elapsed_ns < PATIENCE_NS || (shown && elapsed_ns - drawn_ns < REDRAW_NS) ||
        isatty(STDERR_FILENO) == 0) {
        return;
    }
    if (total == 0) {
        fprintf(stderr, "\r%s %s\033[K", grouped(done), what);
    } else {
        draw(what, done, total, elapsed_ns);
    }
    fflush(stderr);
    shown = true;
    drawn_ns = elapsed_ns;
}

void progress_end(void)
{
    if (shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        shown = false;
    }
}

#include "examples/screen/progress.h"
#include "examples/screen/text.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 30
#define PATIENCE_NS UINT64_C(500000000) /* a run that ends sooner has no bar */

static bool shown; /* on the screen now; only main's thread draws */

static void draw(const char *what, uint64_t done, uint64_t total)
{
    static const char hashes[] = "##############################";
    const double part = (double)done / (double)total;

    fprintf(stderr, "\r[%-*.*s] %3d %%  %s of %s %s\033[K", WIDTH, (int)(part * WIDTH), hashes,
            (int)(part * 100), grouped(done), grouped(total), what);
}

void progress_show(const char *what, uint64_t done, uint64_t total, uint64_t elapsed_ns)
{
    if (elapsed_ns < PATIENCE_NS || isatty(STDERR_FILENO) == 0) {
        return;
    }
    if (total == 0) {
        fprintf(stderr, "\r%s %s\033[K", grouped(done), what);
    } else {
        draw(what, done, total);
    }
    fflush(stderr);
    shown = true;
}

void progress_end(void)
{
    if (shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        shown = false;
    }
}

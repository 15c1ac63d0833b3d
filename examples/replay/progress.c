#include "progress.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 30 };

#define PATIENCE_NS UINT64_C(500000000) /* a run that ends sooner has no bar */

static bool shown; /* on the screen now; only main's thread draws */

void progress_show(uint64_t done, uint64_t total, uint64_t elapsed_ns)
{
    static const char hashes[] = "##############################";
    const double part = total == 0 ? 1 : (double)done / (double)total;

    if (elapsed_ns < PATIENCE_NS || isatty(STDERR_FILENO) == 0) {
        return;
    }
    fprintf(stderr, "\r[%-*.*s] %3d %%  %.1f of %.1f million operations\033[K", WIDTH,
            (int)(part * WIDTH), hashes, (int)(part * 100), (double)done / 1e6,
            (double)total / 1e6);
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

#include "screen.h"
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LEAST_US 50000
#define MOST_COLUMNS 200
#define STATUS_LINES 2
#define HIDE_CURSOR "\033[?25l"
#define SHOW_CURSOR "\033[?25h"
#define CLEAR_LINE "\033[K"
#define CUT_LINES "\033[?7l" /* at the terminal's width: each takes one line of it */
#define WRAP_LINES "\033[?7h"
#define PLAIN "\033[0m"

static bool wants_colours(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    return (no_color == NULL || *no_color == '\0') && term != NULL && strcmp(term, "dumb") != 0;
}

/* As many columns as there are, and pixels about as wide as high. */
bool screen_open(struct screen *screen)
{
    struct winsize size;

    *screen = (struct screen){.colours = wants_colours()};
    if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
        size.ws_col < 40 || size.ws_row < 12) {
        return false;
    }
    size_t columns = size.ws_col < MOST_COLUMNS ? size.ws_col : MOST_COLUMNS;
    size_t lines = columns * 9 / 32;

    if (lines > (size_t)size.ws_row - STATUS_LINES - 1) {
        lines = (size_t)size.ws_row - STATUS_LINES - 1;
        columns = lines * 32 / 9;
    }
    if (!canvas_open(&screen->canvas, columns, lines * 2)) {
        canvas_close(&screen->canvas);
        return false;
    }
    fputs(HIDE_CURSOR, stdout);
    return true;
}

void screen_close(struct screen *screen)
{
    fputs(SHOW_CURSOR, stdout);
    fflush(stdout);
    canvas_close(&screen->canvas);
}

/* Two pixels, one above the other; escapes only where a colour changes. */
static void put_blocks(const uint8_t *upper, const uint8_t *lower, const uint8_t *last_upper,
                       const uint8_t *last_lower)
{
    if (last_upper == NULL || memcmp(upper, last_upper, 3) != 0) {
        printf("\033[38;2;%u;%u;%um", upper[0], upper[1], upper[2]);
    }
    if (last_lower == NULL || memcmp(lower, last_lower, 3) != 0) {
        printf("\033[48;2;%u;%u;%um", lower[0], lower[1], lower[2]);
    }
    fputs("\xe2\x96\x80", stdout);
}

static unsigned brightness(const uint8_t *pixel)
{
    return (pixel[0] * 3U + pixel[1] * 4U + pixel[2] * 3U) / 10;
}

static void put_letter(const uint8_t *upper, const uint8_t *lower)
{
    static const char ramp[] = " .:-=+*#%@";

    putchar(ramp[(brightness(upper) + brightness(lower)) / 2 * 10 / 256]);
}

static void put_line(const struct screen *screen, size_t line)
{
    const size_t width = screen->canvas.width;
    const uint8_t *upper = &screen->canvas.bytes[line * 2 * width * 3];
    const uint8_t *lower = upper + width * 3;

    for (size_t x = 0; x < width * 3; x += 3) {
        if (screen->colours) {
            put_blocks(upper + x, lower + x, x == 0 ? NULL : upper + x - 3,
                       x == 0 ? NULL : lower + x - 3);
        } else {
            put_letter(upper + x, lower + x);
        }
    }
    fputs(screen->colours ? PLAIN CLEAR_LINE "\n" : CLEAR_LINE "\n", stdout);
}

static void put_status(const struct screen *screen, const struct world *world, uint64_t frames)
{
    const struct totals *totals = &world->totals;

    printf(CUT_LINES "frame %" PRIu64 " of %" PRIu64 "  %.0f a second  prey %" PRIu64
                     "  hunters %" PRIu64 CLEAR_LINE "\n",
           world->frame, frames, screen->frames_a_second, totals->live[PREY], totals->live[HUNTER]);
    printf("born %" PRIu64 "  died %" PRIu64 "  stale ids noticed %" PRIu64 CLEAR_LINE
           "\n" WRAP_LINES,
           totals->births, totals->deaths, totals->stale);
}

static void time_frames(struct screen *screen, uint64_t frame, int64_t now_us)
{
    if (screen->drawn) {
        const double now =
            (double)(frame - screen->last_frame) * 1e6 / (double)(now_us - screen->last_us);

        screen->frames_a_second += (now - screen->frames_a_second) / 8;
    }
    screen->last_us = now_us;
    screen->last_frame = frame;
}

void screen_show(struct screen *screen, const struct world *world, uint64_t frames)
{
    const size_t lines = screen->canvas.height / 2;
    const int64_t now_us = g_get_monotonic_time();

    canvas_add(&screen->canvas, world);
    if (screen->drawn && now_us - screen->last_us < LEAST_US && world->frame != frames) {
        return;
    }
    canvas_develop(&screen->canvas);
    time_frames(screen, world->frame, now_us);
    if (screen->drawn) {
        printf("\r\033[%zuA", lines + STATUS_LINES);
    }
    for (size_t line = 0; line < lines; line++) {
        put_line(screen, line);
    }
    put_status(screen, world, frames);
    fflush(stdout);
    screen->drawn = true;
}

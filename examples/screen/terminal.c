#include "examples/screen/terminal.h"
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LONGEST_BAR = 30, SHORTEST_BAR = 5 };

static struct winsize size_of(int file)
{
    struct winsize size = {.ws_row = 0};

    (void)ioctl(file, TIOCGWINSZ, &size); /* where it fails, size stays 0 */
    return size;
}

unsigned terminal_columns(int file)
{
    const unsigned columns = size_of(file).ws_col;

    return columns != 0 ? columns : 80;
}

unsigned terminal_rows(int file)
{
    const unsigned rows = size_of(file).ws_row;

    return rows != 0 ? rows : 24;
}

/* Between brackets; nothing where there is no room. */
static void draw_bar(double part, int room)
{
    static const char hashes[] = "##############################";
    const int width = room < LONGEST_BAR ? room : LONGEST_BAR;
    const double filled = part < 1 ? part * width : width;

    if (part >= 0 && width >= SHORTEST_BAR) {
        fprintf(stderr, "[%-*.*s] ", width, (int)filled, hashes);
    }
}

void terminal_line(double part, const char *text)
{
    /* The last column stays free: in it, some terminals begin a new line. */
    const int room = (int)terminal_columns(STDERR_FILENO) - 1;
    const int length = (int)strlen(text);

    fputc('\r', stderr);
    draw_bar(part, room - length - (int)strlen("[] "));
    fprintf(stderr, "%.*s\033[K", room, text);
    fflush(stderr);
}

void terminal_line_end(void)
{
    fputs("\r\033[K", stderr);
    fflush(stderr);
}

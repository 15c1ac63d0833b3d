#include "top/screen.h"
#include "examples/screen/terminal.h"
#include "examples/screen/text.h"
#include "top/grid.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <termios.h>
#include <unistd.h>

/* The alternate screen, no cursor, no line wrapping; and back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

enum { ESCAPE = 0x1b };

/* The signals below are blocked except while screen_wait() waits. */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static volatile sig_atomic_t ended, stopped, continued;
static sigset_t outside; /* the mask with which the program began */
static struct termios modes;
static bool has_keys;

static void note(int signal)
{
    switch (signal) {
    case SIGWINCH:
        break; /* screen_wait() returns */
    case SIGTSTP:
        stopped = 1;
        break;
    case SIGCONT:
        continued = 1;
        break;
    default:
        ended = 1;
    }
}

static void expect(int signal, sigset_t *blocked)
{
    const struct sigaction action = {.sa_handler = note};

    sigaction(signal, &action, NULL);
    sigaddset(blocked, signal);
}

/* The modes first: in the background, setting them stops the program before it writes. */
static void enter(void)
{
    struct termios raw = modes;

    if (has_keys) {
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    }
    fputs(ENTER, stdout);
    fflush(stdout);
}

static void leave(void)
{
    fputs(LEAVE, stdout);
    fflush(stdout);
    if (has_keys) {
        tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
    }
}

void screen_begin(void)
{
    sigset_t blocked;

    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        expect(ending[i], &blocked);
    }
    expect(SIGWINCH, &blocked);
    expect(SIGTSTP, &blocked);
    expect(SIGCONT, &blocked);
    sigprocmask(SIG_BLOCK, &blocked, &outside);
    has_keys = tcgetattr(STDIN_FILENO, &modes) == 0;
    enter();
}

bool screen_has_keys(void)
{
    return has_keys;
}

void screen_end(void)
{
    leave();
}

/* The hint, and how much of the text there is no room for. */
static void show_last_line(const char *hint, guint lines_more, unsigned width)
{
    char *line = lines_more == 0
                     ? g_strdup(hint)
                     : g_strdup_printf("%s; %u more line%s", hint, lines_more, plural(lines_more));

    text_cut(line, width);
    printf("%s\033[K\033[J", line);
    g_free(line);
}

void screen_show(const char *text, const char *hint)
{
    const unsigned width = terminal_columns(STDOUT_FILENO);
    const guint room = terminal_rows(STDOUT_FILENO) - 1;
    char **lines = g_strsplit(text, "\n", -1);
    const guint count = g_strv_length(lines) - 1; /* behind the last newline is no line */

    fputs("\033[H", stdout);
    for (guint i = 0; i < room; i++) {
        if (i < count) {
            text_cut(lines[i], width);
        }
        printf("%s\033[K\r\n", i < count ? lines[i] : "");
    }
    show_last_line(hint, count > room ? count - room : 0, width);
    fflush(stdout);
    g_strfreev(lines);
}

/* Stops as Ctrl-Z stops other programs; the terminal is the shell's meanwhile. */
static void stop(void)
{
    leave();
    raise(SIGSTOP);
    stopped = 0;
}

static bool has_key(void)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&keys, 1, 0) > 0;
}

/* KEY_NONE: there is none. */
static int read_byte(void)
{
    unsigned char byte;

    if (!has_key()) {
        return KEY_NONE;
    }
    return read(STDIN_FILENO, &byte, 1) == 1 ? byte : KEY_END;
}

/* What a key such as an arrow sends after Escape: [ or O, and up to a letter or ~. */
static int skip_sequence(void)
{
    int byte = read_byte();

    if (byte != '[' && byte != 'O') {
        return byte; /* the next key, or that one with Alt */
    }
    do {
        byte = read_byte();
    } while (byte > KEY_NONE && (byte < '@' || byte > '~'));
    return byte == KEY_END ? KEY_END : ESCAPE;
}

/* One key of those that have come; the others are read next time. */
static int read_key(void)
{
    const int key = read_byte();

    if (key != ESCAPE) {
        return key;
    }
    const int next = skip_sequence();

    return next == KEY_NONE ? ESCAPE : next;
}

int screen_wait(uint64_t ms)
{
    const struct timespec time = {
        .tv_sec = (time_t)(ms / 1000),
        .tv_nsec = (long)(ms % 1000 * 1000000),
    };
    fd_set keys;

    FD_ZERO(&keys);
    if (has_keys) {
        FD_SET(STDIN_FILENO, &keys);
    }
    const int ready = pselect(STDIN_FILENO + 1, &keys, NULL, NULL, &time, &outside);

    if (stopped != 0) {
        stop();
        continued = 1;
    }
    if (continued != 0) {
        continued = 0;
        enter();
    }
    if (ended != 0 || ferror(stdout) != 0) {
        return KEY_END;
    }
    return ready > 0 ? read_key() : KEY_NONE;
}

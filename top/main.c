/* haft-top - the tables of running processes, as they export them. */
#include "top/failure.h"
#include "top/options.h"
#include "top/views.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* --- one look --- */

/* Messages have in them what stands in files. */
static void complain(const char *message)
{
    char *shown = harmless(message);

    fprintf(stderr, "haft-top: %s\n", shown);
    g_free(shown);
}

static void complain_of_all(const GPtrArray *messages)
{
    for (guint i = 0; i < messages->len; i++) {
        complain(g_ptr_array_index(messages, i));
    }
}

static int verdict(const struct options *options, const struct finding *finding)
{
    if (finding->malformed->len != 0) {
        return EXIT_MALFORMED;
    }
    if (finding->running->len != 0) {
        return EXIT_SHOWN;
    }
    if (options->process != 0) {
        fprintf(stderr, "haft-top: process %" PRIu64 " does not export to %s\n", options->process,
                options->directory);
    } else {
        fprintf(stderr, "haft-top: no running process exports to %s\n", options->directory);
    }
    return EXIT_NOTHING;
}

static int show_once(const struct options *options, const struct finding *finding)
{
    GString *text = g_string_new(NULL);

    switch (options->view) {
    case VIEW_JSON:
        view_json(text, finding);
        break;
    case VIEW_PROMETHEUS:
        view_prometheus(text, finding);
        break;
    default:
        view_page(text, finding);
    }
    if (finding->running->len != 0) {
        fputs(text->str, stdout);
    }
    g_string_free(text, TRUE);
    complain_of_all(finding->notes);
    complain_of_all(finding->malformed);
    return verdict(options, finding);
}

/* --- again and again --- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static unsigned terminal_rows(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row : 24;
}

static void append_all(GString *page, const GPtrArray *messages)
{
    for (guint i = 0; i < messages->len; i++) {
        char *shown = harmless(g_ptr_array_index(messages, i));

        g_string_append_printf(page, "%s\n", shown);
        g_free(shown);
    }
}

/* From the top left corner on, as many lines as there is room for. */
static void draw(const struct options *options, const struct finding *finding)
{
    GString *page = g_string_new(NULL);

    view_page(page, finding);
    if (finding->running->len == 0) {
        g_string_append_printf(page, "no running process exports to %s\n", options->directory);
    }
    append_all(page, finding->notes);
    append_all(page, finding->malformed);
    char **lines = g_strsplit(page->str, "\n", (gint)terminal_rows());

    fputs("\033[H", stdout);
    for (unsigned i = 0; lines[i] != NULL && i + 1 < terminal_rows(); i++) {
        printf("%s\033[K\r\n", lines[i]);
    }
    fputs("\033[J", stdout);
    fflush(stdout);
    g_strfreev(lines);
    g_string_free(page, TRUE);
}

static bool show_again_and_again(const struct options *options, struct finding *finding,
                                 GError **error)
{
    const struct timespec interval = {
        .tv_sec = (time_t)(options->interval_ms / 1000),
        .tv_nsec = (long)(options->interval_ms % 1000 * 1000000),
    };
    const struct sigaction action = {.sa_handler = interrupt};
    bool found = true;

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    fputs("\033[?1049h\033[?25l\033[?7l", stdout); /* a screen of its own, no cursor, no wrapping */
    while (interrupted == 0 && found) {
        draw(options, finding);
        nanosleep(&interval, NULL);
        found = find_exports(finding, options->directory, options->process, error);
    }
    fputs("\033[?7h\033[?25h\033[?1049l", stdout);
    return found;
}

static int run(const struct options *options, GError **error)
{
    struct finding finding;
    int code = EXIT_SHOWN;

    finding_init(&finding);
    if (find_exports(&finding, options->directory, options->process, error)) {
        if (options->view != VIEW_LIVE || isatty(STDOUT_FILENO) == 0) {
            code = show_once(options, &finding);
        } else {
            show_again_and_again(options, &finding, error);
        }
    }
    finding_clear(&finding);
    return *error != NULL ? (*error)->code : code;
}

int main(int argc, char **argv)
{
    struct options options = {.directory = NULL};
    GError *error = NULL;
    const int code =
        options_parse(&options, argc, argv, &error) ? run(&options, &error) : EXIT_REFUSED;

    if (error != NULL) {
        complain(error->message);
        g_error_free(error);
    }
    g_free(options.directory);
    return code;
}

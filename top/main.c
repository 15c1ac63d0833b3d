/* haft-top - the tables of running processes, as they export them. */
#include "examples/screen/output.h"
#include "examples/screen/terminal.h"
#include "top/failure.h"
#include "top/live.h"
#include "top/options.h"
#include "top/page.h"
#include "top/views.h"
#include <inttypes.h>
#include <stdio.h>
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

/* As wide as the terminal; in a pipe or a file with all columns. */
static void put_page(GString *text, const struct finding *finding)
{
    struct page page;

    page_init(&page);
    page_put(text, &page, finding,
             isatty(STDOUT_FILENO) != 0 ? terminal_columns(STDOUT_FILENO) : 0);
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
        put_page(text, finding);
    }
    if (finding->running->len != 0) {
        fputs(text->str, stdout);
    }
    g_string_free(text, TRUE);
    complain_of_all(finding->notes);
    complain_of_all(finding->malformed);
    return verdict(options, finding);
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
            show_live(options, &finding, error);
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
    return end_output("haft-top", code, EXIT_MALFORMED);
}

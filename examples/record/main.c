/* record - strace's output becomes a trace for the replay example. */
#include "examples/screen/arguments.h"
#include "examples/screen/progress.h"
#include "examples/screen/text.h"
#include "model.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_RECORDED = 0, EXIT_REFUSED = 2, EXIT_SYSTEM = 3, LINES_A_LOOK = 65536 };

static const char help[] =
    "Usage: record [OPTION...] [FILE]\n"
    "\n"
    "Turns the output of strace -f, from FILE or stdin, into a trace of descriptors\n"
    "for the replay example: rows thread,op,object on stdout, a where a descriptor is\n"
    "opened, u where it is used, f where it is closed.\n"
    "\n"
    "Descriptors belong to processes: threads share them, a fork copies them, execve\n"
    "closes those that are close-on-exec, and the end of a process the rest.  One that\n"
    "was open before the recording is opened where it is first met.\n"
    "\n"
    "Options:\n"
    "  --output FILE  write the trace there\n"
    "  --help         print this\n"
    "\n"
    "Exit status: 0 if a trace was written, 2 if the options or the input are not\n"
    "acceptable, 3 if the trace cannot be written.\n"
    "\n"
    "Examples:\n"
    "  strace -f -e trace=desc,process -o ls.strace ls -R /usr/share\n"
    "  record ls.strace >ls.csv && replay --repeat 100 ls.csv\n"
    "  strace -f -e trace=desc,network,process -o '|record -o make.csv' make\n"
    "\n"
    "Have strace write with -o: on a terminal, lines of several processes run together.\n";

struct options {
    char *output; /* NULL: stdout */
    char *input;  /* NULL: stdin */
};

static bool parse(struct options *options, int argc, char **argv, GError **error)
{
    char **paths = NULL;
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output, NULL, NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &paths, NULL, NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    bool accepted = read_arguments(entries, help, argc, argv, error);

    if (accepted && paths != NULL) {
        options->input = g_strdup(paths[0]);
        accepted = paths[1] == NULL || refuse(error, "one file at a time, not also '%s'", paths[1]);
    }
    g_strfreev(paths);
    return accepted;
}

static FILE *open_or_exit(const char *path, const char *mode, FILE *otherwise, int code)
{
    FILE *file = path != NULL ? fopen(path, mode) : otherwise;

    if (file == NULL) {
        fprintf(stderr, "record: %s: %s\n", path, g_strerror(errno));
        exit(code);
    }
    return file;
}

/* One line into the model; false, with the mistake printed. */
static bool take(struct model *model, const char *text, const char *path, uint64_t number)
{
    struct line line;
    struct mistake mistake;

    if (line_parse(text, &line, &mistake) && model_take(model, &line, &mistake)) {
        return true;
    }
    fprintf(stderr, "record: %s:%" PRIu64 ":%zu: %s\n", path, number,
            (size_t)(mistake.at - text) + 1, mistake.what);
    return false;
}

static bool read_all(FILE *in, const char *path, struct model *model)
{
    const gint64 began = g_get_monotonic_time();
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    uint64_t number = 0;
    bool right = true;

    while (right && (length = getline(&text, &room, in)) >= 0) {
        text[strcspn(text, "\r\n")] = '\0';
        right = take(model, text, path, ++number);
        if (number % LINES_A_LOOK == 0) {
            progress_show("lines", number, 0, (uint64_t)(g_get_monotonic_time() - began) * 1000);
        }
    }
    progress_end();
    if (right && ferror(in)) {
        fprintf(stderr, "record: %s: %s\n", path, g_strerror(errno));
        right = false;
    }
    free(text);
    return right;
}

static int finish(const struct model *model, FILE *out, const char *path)
{
    const struct totals totals = model_totals(model);
    const bool failed = ferror(out) != 0;

    if (fclose(out) != 0 || failed) {
        fprintf(stderr, "record: cannot write the trace: %s\n", g_strerror(errno));
        return EXIT_SYSTEM;
    }
    if (totals.rows == 0) {
        fprintf(stderr, "record: %s: no descriptor is opened or used in it\n", path);
        return EXIT_REFUSED;
    }
    fprintf(stderr, "record: %s row%s by %s thread%s on %s object%s\n", grouped(totals.rows),
            plural(totals.rows), grouped(totals.threads), plural(totals.threads),
            grouped(totals.objects), plural(totals.objects));
    return EXIT_RECORDED;
}

static int record(const struct options *options)
{
    const char *path = options->input != NULL ? options->input : "stdin";
    FILE *in = open_or_exit(options->input, "r", stdin, EXIT_REFUSED);
    FILE *out = open_or_exit(options->output, "w", stdout, EXIT_SYSTEM);
    struct model *model = model_new(out);

    fputs("# descriptors, from strace's output\n# columns: thread,op,object   op: a=allocate u=use "
          "f=free   rows in observed order\n",
          out);
    const int code = read_all(in, path, model) ? finish(model, out, path) : EXIT_REFUSED;

    model_free(model);
    return code;
}

int main(int argc, char **argv)
{
    struct options options = {NULL, NULL};
    GError *error = NULL;
    int code = EXIT_REFUSED;

    if (parse(&options, argc, argv, &error)) {
        code = record(&options);
    } else {
        fprintf(stderr, "record: %s\n", error->message);
        g_error_free(error);
    }
    g_free(options.input);
    g_free(options.output);
    return code;
}

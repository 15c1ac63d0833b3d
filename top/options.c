#include "top/options.h"
#include "examples/screen/arguments.h"
#include "top/page.h"

static const char help_begin[] =
    "Usage: haft-top [OPTION...] DIRECTORY\n"
    "\n"
    "Shows the haft tables of running processes that export their statistics to\n"
    "DIRECTORY (haft_export_open; include/haft/kit/export.h).\n"
    "\n"
    "Options:\n"
    "  --pid N        only this process\n"
    "  --interval MS  between looks, 100 to 60000 (default: 1000)\n"
    "  --once         look once; so it does when stdout is no terminal\n"
    "  --json         look once; the exported figures, as JSON\n"
    "  --prometheus   look once; Prometheus's text format\n"
    "  --help         print this\n"
    "\n"
    "Keys: q quits, as Ctrl-C does; ? explains the columns.\n"
    "\n"
    "Columns, as many as the terminal has room for:\n";

static const char help_end[] =
    "\n"
    "Exit status:\n"
    "  0  something was shown\n"
    "  1  no running process exports there\n"
    "  2  the options or the directory are not acceptable\n"
    "  3  a file there is not an export, or the output could not be written\n"
    "\n"
    "Examples:\n"
    "  haft-top /run/user/1000/haft\n"
    "  haft-top --pid 4711 --interval 250 /run/user/1000/haft\n"
    "  haft-top --json /run/user/1000/haft | jq '.processes[].tables[].live'\n"
    "  haft-top --prometheus /run/haft > /var/lib/node_exporter/haft.prom\n";

#define ALL G_MININT64

struct raw {
    gint64 process;
    gint64 interval_ms;
    char **paths;
    gboolean once;
    gboolean json;
    gboolean prometheus;
};

static bool parse_arguments(struct raw *raw, int argc, char **argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"pid", 0, 0, G_OPTION_ARG_INT64, &raw->process, NULL, NULL},
        {"interval", 0, 0, G_OPTION_ARG_INT64, &raw->interval_ms, NULL, NULL},
        {"once", 0, 0, G_OPTION_ARG_NONE, &raw->once, NULL, NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &raw->json, NULL, NULL},
        {"prometheus", 0, 0, G_OPTION_ARG_NONE, &raw->prometheus, NULL, NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->paths, NULL, NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };

    char *help = g_strconcat(help_begin, page_legend, help_end, NULL);
    const bool read = read_arguments(entries, help, argc, argv, error);

    g_free(help);
    return read;
}

static bool take(struct options *options, const struct raw *raw, GError **error)
{
    const guint paths = raw->paths == NULL ? 0 : g_strv_length(raw->paths);

    if ((raw->process != ALL && !in_range("pid", raw->process, 1, INT32_MAX, error)) ||
        !in_range("interval", raw->interval_ms, 100, 60000, error)) {
        return false;
    }
    if (raw->once + raw->json + raw->prometheus > 1) {
        return refuse(error, "only one of --once, --json and --prometheus");
    }
    if (paths != 1) {
        return paths == 0 ? refuse(error, "no directory is named")
                          : refuse(error, "one directory at a time, not also '%s'", raw->paths[1]);
    }
    options->directory = g_strdup(raw->paths[0]);
    options->process = raw->process == ALL ? 0 : (uint64_t)raw->process;
    options->interval_ms = (uint64_t)raw->interval_ms;
    options->view = raw->json         ? VIEW_JSON
                    : raw->prometheus ? VIEW_PROMETHEUS
                    : raw->once       ? VIEW_ONCE
                                      : VIEW_LIVE;
    return true;
}

bool options_parse(struct options *options, int argc, char **argv, GError **error)
{
    struct raw raw = {.process = ALL, .interval_ms = 1000};
    const bool accepted = parse_arguments(&raw, argc, argv, error) && take(options, &raw, error);

    g_strfreev(raw.paths);
    return accepted;
}

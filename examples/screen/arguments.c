#include "arguments.h"
#include "examples/screen/output.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static GQuark arguments_failure_quark(void)
{
    return g_quark_from_static_string("arguments");
}

bool refuse(GError **error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, arguments_failure_quark(), ARGUMENTS_REFUSED, "%s; --help says more",
                message);
    g_free(message);
    return false;
}

bool in_range(const char *option, gint64 value, gint64 least, gint64 most, GError **error)
{
    return (value >= least && value <= most) ||
           refuse(error,
                  "--%s must be from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                  ", not %" G_GINT64_FORMAT,
                  option, least, most, value);
}

bool read_arguments(const GOptionEntry *entries, const char *help, int argc, char **argv,
                    GError **error)
{
    gboolean wants_help = FALSE;
    const GOptionEntry help_entries[] = {
        {"help", 'h', 0, G_OPTION_ARG_NONE, &wants_help, NULL, NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    GOptionContext *context = g_option_context_new(NULL);
    GError *reason = NULL;

    g_option_context_set_help_enabled(context, FALSE); /* GLib's own would know no examples */
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_add_main_entries(context, help_entries, NULL);
    const bool read = g_option_context_parse(context, &argc, &argv, &reason);

    g_option_context_free(context);
    if (!read) {
        refuse(error, "%s", reason->message);
        g_error_free(reason);
        return false;
    }
    if (wants_help) {
        print_help(g_get_prgname(), help);
    }
    return argc == 1 || refuse(error, "'%s' is not an option", argv[1]);
}

#include "failure.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRINTED = 10 };

G_DEFINE_QUARK(level_failure, level_failure)

static gint wrong; /* GLib's atomic operations */

bool fail(GError **error, enum level_exit code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_propagate_error(error, g_error_new_valist(LEVEL_FAILURE, (gint)code, format, arguments));
    va_end(arguments);
    return false;
}

static void say(const char *kind, const char *format, va_list arguments)
{
    char *message = g_strdup_vprintf(format, arguments);

    fprintf(stderr, "level_load: %s%s\n", kind, message);
    g_free(message);
}

void give_up(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say("", format, arguments);
    va_end(arguments);
    _Exit(EXIT_SYSTEM);
}

bool check(bool right, const char *format, ...)
{
    va_list arguments;

    if (!right && g_atomic_int_add(&wrong, 1) < PRINTED) {
        va_start(arguments, format);
        say("wrong: ", format, arguments);
        va_end(arguments);
    }
    return right;
}

unsigned wrong_answers(void)
{
    return (unsigned)g_atomic_int_get(&wrong);
}

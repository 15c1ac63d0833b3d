#include "failure.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

G_DEFINE_QUARK(replay_failure, replay_failure)

void replay_give_up(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fprintf(stderr, "replay: %s\n", message);
    _Exit(EXIT_SYSTEM);
}
